public import FoundationEssentials
public import PostgresClient

/// The accounts that were erased, or whose erasure has begun, by the hashes of their ids: such an id must not be written again.
///
/// Other users may know the id from before the erasure, and send it to identity-api. Rows with the id are then not written, and the
/// response does not differ.
package enum ErasedAccounts {
    /// Returns an SQL condition: an id, a column or a value of type uuid, is the id of an erased account. Needs SELECT on `erasures`.
    ///
    /// - Parameter id: The id, with the name of its table: without it, `id` would be the column of `erasures`.
    package static func contains(_ id: String) -> String {
        "EXISTS (SELECT FROM erasures WHERE scope = 'account' AND subject_hash = sha256(uuid_send(\(id))))"
    }
}

extension ErasureRepository {
    /// Returns whether an id belongs to an account that was erased, or whose erasure has begun.
    public func isErased(_ userID: UUID) async throws(PostgresError) -> Bool {
        let query: PostgresQuery = """
            SELECT FROM (SELECT \(userID)::uuid AS id) given WHERE \(unescaped: ErasedAccounts.contains("given.id"))
            """
        return try await !db.query(query.readOnly()).isEmpty
    }
}
