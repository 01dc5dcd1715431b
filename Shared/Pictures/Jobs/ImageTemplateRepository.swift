public import PostgresClient

/// Reads `image_templates`; operators write them.
public struct ImageTemplateRepository: Sendable {
    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Returns the templates that can be ordered, in the order for users.
    public func list() async throws(PostgresError) -> [ImageTemplate] {
        let query: PostgresQuery = "SELECT * FROM image_templates WHERE state = 'published' ORDER BY position, id"
        return try await db.query(query.readOnly()).map(ImageTemplate.init(row:))
    }

    /// Returns every template, including those that cannot be ordered, in the order for users.
    public func all() async throws(PostgresError) -> [ImageTemplate] {
        let query: PostgresQuery = "SELECT * FROM image_templates ORDER BY position, id"
        return try await db.query(query.readOnly()).map(ImageTemplate.init(row:))
    }

    /// Writes a template by compare-and-set.
    ///
    /// - Parameter expected: The template as it was read; nil when no template had that id.
    /// - Returns: Whether it was written. False when another writer changed it first: read it again.
    public func write(_ new: ImageTemplate, over expected: ImageTemplate?) async throws(PostgresError) -> Bool {
        guard let old = expected else {
            return try await db.execute(
                """
                INSERT INTO image_templates (id, name, description, preview, style, prompt, negative_prompt, state, position)
                VALUES (\(new.id), \(new.name), \(new.description), \(new.preview), \(new.style), \(new.prompt),
                        \(new.negativePrompt), \(new.state.rawValue), \(new.position))
                ON CONFLICT (id) DO NOTHING
                """) == 1
        }
        return try await db.execute(
            """
            UPDATE image_templates
            SET name = \(new.name), description = \(new.description), preview = \(new.preview), style = \(new.style),
                prompt = \(new.prompt), negative_prompt = \(new.negativePrompt), state = \(new.state.rawValue), position = \(new.position)
            WHERE id = \(old.id) AND (name, description, style, prompt, negative_prompt, state, position)
                  = (\(old.name), \(old.description), \(old.style), \(old.prompt), \(old.negativePrompt), \(old.state.rawValue),
                     \(old.position))
              AND preview IS NOT DISTINCT FROM \(old.preview)
            """) == 1
    }

    /// Deletes a template.
    ///
    /// - Returns: Whether it existed.
    /// - Throws: The violation of a foreign key when a job that is kept has it.
    public func delete(id: String) async throws(PostgresError) -> Bool {
        try await db.execute("DELETE FROM image_templates WHERE id = \(id)") == 1
    }

    /// Returns a template. By default it may be one that cannot be ordered, because its jobs are still processed.
    ///
    /// - Parameter publishedOnly: Whether to return only a template that can be ordered.
    public func find(id: String, publishedOnly: Bool = false) async throws(PostgresError) -> ImageTemplate? {
        let query: PostgresQuery = "SELECT * FROM image_templates WHERE id = \(id) AND (state = 'published' OR NOT \(publishedOnly))"
        return try await db.query(query.readOnly()).first.map(ImageTemplate.init(row:))
    }
}
