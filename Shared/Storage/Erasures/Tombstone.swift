public import FoundationEssentials
public import PostgresClient

/// The row that remains of an erased account: the hash of an id that must not be written again.
///
/// Other users may know the id from before the erasure, and send it to identity-api. Rows with the id are then not written, and the
/// response does not differ.
enum Tombstone {
    /// Returns an SQL condition: an id, a column or a value of type uuid, is the id of an erased account. Needs SELECT on `erasures`.
    ///
    /// - Parameter id: The id, with the name of its table: without it, `id` would be the column of `erasures`.
    static func covers(_ id: String) -> String {
        "EXISTS (SELECT FROM erasures WHERE scope = 'account' AND subject_hash = sha256(uuid_send(\(id))))"
    }
}

extension ErasureRepository {
    /// Returns whether an id belongs to an account that was erased, or whose erasure has begun.
    public func isErased(_ userID: UUID) async throws(PostgresError) -> Bool {
        let query: PostgresQuery = "SELECT FROM (SELECT \(userID)::uuid AS id) given WHERE \(unescaped: Tombstone.covers("given.id"))"
        return try await !db.query(query.readOnly()).isEmpty
    }
}
