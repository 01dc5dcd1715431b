internal import Accounts
internal import FoundationEssentials
internal import PostgresClient
internal import ServiceDefaults

/// Begins the erasures that requests ask for.
struct ErasureStarter: Sendable {
    let postgres: PostgresClient
    let keys: AccountKeys

    /// Begins an erasure; nil when there is no such account, or one of this scope is under way.
    func begin(
        _ scope: ErasureScope, of userID: UUID, for requester: NewErasure.Requester, by actor: AuditActor, using proof: DeviceProof? = nil,
        _ context: APIRequestContext
    ) async throws -> ErasureRequest? {
        let erasure = ErasureRequest(scope, of: userID, for: requester)
        let removed = try await postgres.withTransaction { transaction in
            try await DeviceKeyGate.use(proof, in: transaction)
            return try await erasure.begin(
                by: actor, requestID: context.requestID, addressKey: keys.addressKey(context.client), in: transaction)
        }
        guard let removed else { return nil }
        DeviceRegistrar.countRemoved(removed)
        return erasure
    }
}
