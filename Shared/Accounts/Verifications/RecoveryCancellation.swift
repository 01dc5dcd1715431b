internal import EventBus
public import FoundationEssentials
public import PostgresClient
internal import Push
internal import WireFormat

/// Cancels a pending recovery: a user with a signed-in device does not need it.
public enum RecoveryCancellation {
    /// Ends the recovery of an account if there is one, tells the user's devices, and records it in the audit log.
    ///
    /// - Parameters:
    ///   - detail: A fixed word for the reason, if it was not a request to cancel.
    ///   - actor: Who ends it; nil for the user.
    ///   - addressKey: The keyed hash of the client's address.
    public static func cancel(
        of userID: UUID, by actor: AuditActor? = nil, detail: String? = nil, requestID: String? = nil, traceparent: String? = nil,
        addressKey: [UInt8]? = nil, in transaction: PostgresTransaction
    ) async throws {
        try await SignInRepository(transaction).lock(of: userID)
        guard let recovery = try await PendingEnrolmentRepository(transaction).cancelRecovery(of: userID) else { return }
        let alert = AccountAlertPush(.recoveryCancelled, of: userID).request(cause: recovery)
        try await OutboxRepository(transaction).publish(
            alert, requestID: requestID, traceparent: traceparent, expiresAt: alert.expiresAt)
        try await AuditRepository(transaction).append(
            AuditEntry(
                .recoveryCancelled, by: actor ?? .user(userID), on: userID, object: recovery, requestID: requestID, detail: detail,
                addressKey: addressKey))
    }
}
