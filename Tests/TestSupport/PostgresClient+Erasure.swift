public import Accounts
public import FoundationEssentials
public import PostgresClient

extension PostgresClient {
    /// Begins the erasure of an account or its face, unless it has begun.
    public func beginErasure(_ scope: ErasureScope = .account, of userID: UUID) async throws -> Erasure {
        let new = NewErasure(
            id: UUID(), scope: scope, userID: userID, tokenHash: [UInt8](repeating: 7, count: 32), requestedBy: .user)
        _ = try await withTransaction { try await ErasureRepository($0).begin(new) }
        let rows = try await query("SELECT id FROM erasures WHERE user_id = \(userID) AND scope = \(scope.rawValue)")
        guard let id: UUID = try rows.first?.decode("id"), let erasure = try await ErasureRepository(self).find(id: id) else {
            throw PostgresError(code: .decoding, message: "the erasure of a test has not begun")
        }
        return erasure
    }
}
