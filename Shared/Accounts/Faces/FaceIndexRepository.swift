public import FoundationEssentials
public import PostgresClient

/// Reads and writes `face_indexes`, the reports of the face-matching-workers on their indexes in memory, and `face_reindexes`, the requests
/// of operators to reindex.
public struct FaceIndexRepository: Sendable {
    /// The time without a report after which a worker counts as gone: several of its intervals.
    public static let reportLifetime: Duration = .seconds(30)

    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Asks all workers to reindex: to read all faces from the tables a second time.
    ///
    /// - Returns: The number of the request; a later one has a higher number.
    public func request() async throws(PostgresError) -> Int64 {
        try await db.query("INSERT INTO face_reindexes DEFAULT VALUES RETURNING number").required().decode("number")
    }

    /// Returns the number of the last request to reindex; 0 before the first.
    public func lastRequest() async throws(PostgresError) -> Int64 {
        let query: PostgresQuery = "SELECT coalesce(max(number), 0) AS number FROM face_reindexes"
        return try await db.query(query.readOnly()).required().decode("number")
    }

    /// Stores the state of a worker's index in place of its last report.
    public func report(_ report: FaceIndexReport) async throws(PostgresError) {
        try await db.execute(
            """
            INSERT INTO face_indexes (worker, faces, unusable, faces_read, reindexed)
            VALUES (\(report.worker), \(report.faces), \(report.unusable), \(report.facesRead),
                    \(report.reindexed))
            ON CONFLICT (worker) DO UPDATE SET faces = excluded.faces, unusable = excluded.unusable, faces_read = excluded.faces_read,
                reindexed = excluded.reindexed, reported_at = excluded.reported_at
            """)
    }

    /// Deletes the report of a worker that ends.
    public func remove(worker: String) async throws(PostgresError) {
        try await db.execute("DELETE FROM face_indexes WHERE worker = \(worker)")
    }

    /// Deletes at most `limit` reports of workers that ended without a word an hour ago.
    ///
    /// - Returns: The number of deleted rows.
    public func deleteSilent(limit: Int) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            DELETE FROM face_indexes WHERE worker IN (
                SELECT worker FROM face_indexes WHERE reported_at < now() - interval '1 hour' LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """)
    }

    /// Returns the number of faces in the tables and the reports of the workers that run, in one look.
    public func state(of model: FaceModel) async throws(PostgresError) -> FaceIndexState {
        let query: PostgresQuery = """
            SELECT s.taken_at, s.faces AS stored, i.* FROM (
                SELECT now() AS taken_at,
                    (SELECT count(*) FROM face_templates
                     WHERE model_id = \(model.id) AND pipeline_version = \(model.pipelineVersion))
                    + (SELECT count(*) FROM pending_enrolments
                       WHERE model_id = \(model.id) AND pipeline_version = \(model.pipelineVersion)) AS faces) s
            LEFT JOIN face_indexes i ON i.reported_at > s.taken_at - make_interval(secs => \(Self.reportLifetime / .seconds(1)))
            ORDER BY i.worker
            """
        let rows = try await db.query(query.readOnly())
        var workers: [FaceIndexWorker] = []
        for row in rows {
            guard let name = try row.decode("worker", as: String?.self) else { continue }
            workers.append(
                FaceIndexWorker(
                    report: FaceIndexReport(
                        worker: name, faces: try row.decode("faces", as: Int.self), unusable: try row.decode("unusable", as: Int.self),
                        facesRead: try row.decode("faces_read", as: Int?.self), reindexed: try row.decode("reindexed", as: Int64?.self)),
                    reportedAt: try row.decode("reported_at")))
        }
        let first = try rows.required()
        return FaceIndexState(takenAt: try first.decode("taken_at"), stored: try first.decode("stored", as: Int.self), workers: workers)
    }
}

/// The report of a worker on its index of faces.
public struct FaceIndexReport: Sendable, Equatable {
    /// The host and the process of the worker.
    public var worker: String
    /// The faces in its memory.
    public var faces: Int
    /// The faces that it has read and cannot use: damaged faces, and faces whose key is missing.
    public var unusable: Int
    /// The faces that were read while all are read; nil at other times.
    public var facesRead: Int?
    /// The last completed request; nil while a worker reads all faces after its start.
    public var reindexed: Int64?

    /// Describes an index.
    public init(worker: String, faces: Int, unusable: Int, facesRead: Int?, reindexed: Int64?) {
        (self.worker, self.faces, self.unusable) = (worker, faces, unusable)
        (self.facesRead, self.reindexed) = (facesRead, reindexed)
    }
}

/// A worker that runs, with its last report.
public struct FaceIndexWorker: Sendable, Equatable {
    /// The report.
    public let report: FaceIndexReport
    /// The time of the report.
    public let reportedAt: Date
}

/// The number of stored faces, and the workers' reports on the faces in their memory.
public struct FaceIndexState: Sendable {
    /// The time of Postgres.
    public let takenAt: Date
    /// The faces in the tables.
    public let stored: Int
    /// The workers that run, by name.
    public let workers: [FaceIndexWorker]
}
