internal import EventBus
public import FoundationEssentials
public import PostgresClient
internal import Storage
internal import WireFormat

/// The end, without effect, of a recovery that waits: a user who holds a device that is signed in needs none.
public enum RecoveryCancellation {
    /// Ends the recovery of an account if there is one, tells the user's devices, and records it in the audit log.
    ///
    /// - Parameters:
    ///   - detail: A fixed word for the reason, if it was not a request to cancel.
    ///   - addressKey: The keyed hash of the client's address.
    public static func cancel(
        of userID: UUID, detail: String? = nil, requestID: String?, traceparent: String?, addressKey: [UInt8]? = nil,
        in transaction: PostgresTransaction
    ) async throws {
        guard let recovery = try await PendingEnrolmentRepository(transaction).cancelRecovery(of: userID) else { return }
        let alert = AccountAlert.recoveryCancelled.notification(to: userID, cause: recovery)
        try await OutboxRepository(transaction).publish(
            alert, requestID: requestID, traceparent: traceparent, expiresAt: alert.expiresAt)
        try await AuditRepository(transaction).append(
            AuditEntry(
                .recoveryCancelled, by: .user(userID), on: userID, object: recovery, requestID: requestID, detail: detail,
                addressKey: addressKey))
    }
}
