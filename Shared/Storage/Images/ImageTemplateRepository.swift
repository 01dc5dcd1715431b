public import PostgresClient

/// Reads `image_templates`; operators write them.
public struct ImageTemplateRepository: Sendable {
    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Returns the templates that can be ordered, in the order in which users see them.
    public func list() async throws(PostgresError) -> [ImageTemplate] {
        let query: PostgresQuery = "SELECT * FROM image_templates WHERE enabled ORDER BY position, id"
        return try await db.query(query.readOnly()).map { row throws(PostgresError) in try ImageTemplate(row: row) }
    }

    /// Returns a template, also one that can no longer be ordered: its jobs are still made.
    ///
    /// - Parameter enabledOnly: Whether it has to be one that can be ordered.
    public func find(id: String, enabledOnly: Bool = false) async throws(PostgresError) -> ImageTemplate? {
        let query: PostgresQuery = "SELECT * FROM image_templates WHERE id = \(id) AND (enabled OR NOT \(enabledOnly))"
        return try await db.query(query.readOnly()).first.map { row throws(PostgresError) in try ImageTemplate(row: row) }
    }
}
