internal import EventBus
public import FoundationEssentials
internal import HeliographCrypto
public import PostgresClient
internal import Push
internal import WireFormat

/// An erasure that is about to begin: the account is closed, its sign-ins end, its devices get no more pushes, and the services are asked
/// to erase their records of it.
public struct ErasureRequest: Sendable {
    private static let tokenByteCount = 32

    /// The id of the erasure.
    public let id = UUID()
    /// Reads the receipt: 256 random bits in base64url, stored as a hash only.
    public let receiptToken = Base64URL.encode(SecureRandom.bytes(tokenByteCount))
    private let scope: ErasureScope
    private let userID: UUID
    private let requester: NewErasure.Requester

    /// Describes an erasure.
    public init(_ scope: ErasureScope, of userID: UUID, for requester: NewErasure.Requester) {
        self.scope = scope
        self.userID = userID
        self.requester = requester
    }

    /// Begins the erasure, and records it in the audit log.
    ///
    /// - Parameter addressKey: The keyed hash of the client's address.
    /// - Returns: The number of unregistered installations; `nil` when there is no such account, or its erasure has already begun.
    public func begin(
        by actor: AuditActor, requestID: String? = nil, addressKey: [UInt8]? = nil, in transaction: PostgresTransaction
    ) async throws -> Int? {
        let signIns = SignInRepository(transaction)
        try await signIns.lock(of: userID)
        let new = NewErasure(
            id: id, scope: scope, userID: userID, tokenHash: SHA256.hash(receiptToken), requestedBy: requester)
        guard try await ErasureRepository(transaction).begin(new) else { return nil }
        let removed = try await scope == .account ? signOut(in: transaction) : 0
        let action = scope == .account ? AuditAction.accountErasureRequested : .faceErasureRequested
        try await AuditRepository(transaction).append(
            AuditEntry(action, by: actor, on: userID, object: id, requestID: requestID, addressKey: addressKey))
        try await OutboxRepository(transaction).publish(UserErased(erasureID: id), requestID: requestID)
        return removed
    }

    private func signOut(in transaction: PostgresTransaction) async throws -> Int {
        // Sessions before installations, in the order of a redemption.
        let uploaded = try await SessionRepository(transaction).releaseInstalls(userID: userID)
        let ended = try await SignInRepository(transaction).endAll(of: userID)
        let unregistered = try await PushInstallRepository(transaction).unregisterAll(of: userID)
        try await PushInstallRepository(transaction).deleteUnneeded(ids: uploaded)
        return ended.removedInstalls.count + unregistered.count
    }
}
