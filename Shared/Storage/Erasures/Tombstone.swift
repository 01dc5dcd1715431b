public import FoundationEssentials
public import PostgresClient

/// The row that stays of an erased account: it tells that an id must not be written again, and does not contain the id.
///
/// Ids of accounts reach identity-api in requests of others, who may know them from before the erasure. What they would write is left out;
/// answers do not differ.
enum Tombstone {
    /// Returns SQL that is true when an id, a column or a value of type uuid, is that of an erased account. Needs SELECT on `erasures`.
    ///
    /// - Parameter id: With the name of its table: without it, a column `id` would be that of `erasures`.
    static func covers(_ id: String) -> String {
        "EXISTS (SELECT FROM erasures WHERE scope = 'account' AND subject_hash = sha256(uuid_send(\(id))))"
    }
}

extension ErasureRepository {
    /// Returns whether an id is that of an account that was erased, or whose erasure has begun.
    public func isErased(_ userID: UUID) async throws(PostgresError) -> Bool {
        let query: PostgresQuery = "SELECT FROM (SELECT \(userID)::uuid AS id) given WHERE \(unescaped: Tombstone.covers("given.id"))"
        return try await !db.query(query.readOnly()).isEmpty
    }
}
