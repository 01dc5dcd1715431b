public import FoundationEssentials
public import PostgresClient

/// Reads and writes `face_templates`.
public struct FaceTemplateRepository: Sendable {
    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Enrols a face unless the user has one.
    ///
    /// - Returns: Whether it was enrolled; `false` when the user has a face, which is left as it is.
    public func insertIfAbsent(_ new: NewFaceTemplate) async throws(PostgresError) -> Bool {
        try await db.execute(
            """
            INSERT INTO face_templates (user_id, model_id, pipeline_version, template_sealed)
            VALUES (\(new.userID), \(new.modelID), \(Int32(new.pipelineVersion)), \(new.templateSealed))
            ON CONFLICT (user_id) DO NOTHING
            """) == 1
    }

    /// Enrols a face, or replaces the one the user has.
    ///
    /// - Returns: Whether it replaced one.
    @discardableResult
    public func upsert(_ new: NewFaceTemplate) async throws(PostgresError) -> Bool {
        let rows = try await db.query(
            """
            INSERT INTO face_templates (user_id, model_id, pipeline_version, template_sealed)
            VALUES (\(new.userID), \(new.modelID), \(Int32(new.pipelineVersion)), \(new.templateSealed))
            ON CONFLICT (user_id) DO UPDATE
            SET model_id = EXCLUDED.model_id, pipeline_version = EXCLUDED.pipeline_version,
                template_sealed = EXCLUDED.template_sealed, updated_at = now()
            RETURNING updated_at > created_at AS replaced
            """)
        return try rows.required().decode("replaced")
    }

    /// Returns whether the user has a face.
    public func exists(userID: UUID) async throws(PostgresError) -> Bool {
        let query: PostgresQuery = "SELECT FROM face_templates WHERE user_id = \(userID)"
        return try await !db.query(query).isEmpty
    }

    /// Deletes the user's face.
    ///
    /// - Returns: Whether there was one.
    public func delete(userID: UUID) async throws(PostgresError) -> Bool {
        try await db.execute("DELETE FROM face_templates WHERE user_id = \(userID)") == 1
    }

    /// Returns the user's face, if there is one.
    public func find(userID: UUID) async throws(PostgresError) -> FaceTemplate? {
        let query: PostgresQuery = "SELECT * FROM face_templates WHERE user_id = \(userID)"
        let rows = try await db.query(query.readOnly())
        return try rows.first.map(FaceTemplate.init(row:))
    }

    /// Counts the faces by the model and the version that computed them, the most first.
    public func counts() async throws(PostgresError) -> [FaceTemplateCount] {
        let query: PostgresQuery = """
            SELECT model_id, pipeline_version, count(*) AS faces FROM face_templates GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2
            """
        return try await db.query(query.readOnly()).map { row throws(PostgresError) in
            FaceTemplateCount(
                modelID: try row.decode("model_id"), pipelineVersion: try row.decode("pipeline_version", as: Int.self),
                count: try row.decode("faces", as: Int.self))
        }
    }
}

/// The number of faces of a model.
public struct FaceTemplateCount: Sendable, Equatable {
    /// The network that computed them.
    public let modelID: String
    /// The version of the pipeline that computed them.
    public let pipelineVersion: Int
    /// How many there are.
    public let count: Int
}
