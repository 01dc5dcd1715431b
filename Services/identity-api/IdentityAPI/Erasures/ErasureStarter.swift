internal import EventBus
internal import FoundationEssentials
internal import PostgresClient
internal import Storage
internal import WireFormat

/// Begins erasures: in one transaction the account is closed, its sign-ins end, its devices get no more pushes, and the services are asked
/// to erase what they keep.
struct ErasureStarter: Sendable {
    let postgres: PostgresClient
    let keys: AccountKeys

    /// An erasure that has begun.
    struct Begun: Sendable {
        let id: UUID
        /// Reads the receipt; it is stored as a hash only.
        let token: String
    }

    /// Begins an erasure; nil when there is no such account, or one of this scope is under way.
    func begin(
        _ scope: ErasureScope, of userID: UUID, for requester: NewErasure.Requester, by actor: AuditActor, _ context: APIRequestContext
    ) async throws -> Begun? {
        let token = OpaqueToken.generate()
        let new = NewErasure(
            id: UUID(), scope: scope, userID: userID, tokenHash: token.hash, requestedBy: requester)
        let removed = try await postgres.withTransaction { transaction -> Int? in
            let signIns = SignInRepository(transaction)
            try await signIns.lock(of: userID)
            guard try await ErasureRepository(transaction).begin(new) else { return nil }
            var removed = 0
            if scope == .account {
                // Sessions before installations, in the order of a redemption.
                let uploaded = try await SessionRepository(transaction).releaseInstalls(userID: userID)
                removed += try await signIns.endAll(of: userID).removedInstalls.count
                removed += try await PushInstallRepository(transaction).unregisterAll(of: userID).count
                try await PushInstallRepository(transaction).deleteUnneeded(ids: uploaded)
            }
            let action = scope == .account ? AuditAction.accountErasureRequested : .faceErasureRequested
            try await AuditRepository(transaction).append(keys.auditEntry(action, by: actor, on: userID, object: new.id, context))
            try await OutboxRepository(transaction).publish(UserErased(erasureID: new.id), requestID: context.requestID)
            return removed
        }
        guard let removed else { return nil }
        DeviceRegistrar.countRemoved(removed)
        return Begun(id: new.id, token: token.text)
    }
}
