internal import Accounts
internal import FoundationEssentials
internal import Logging
internal import PostgresClient
internal import Push
internal import WireFormat

/// Deletes the installations that only failed sessions, or redeemed sign-ins, have registered, once the push about them has ended.
struct SessionInstallCleanup {
    let transaction: PostgresTransaction
    let logger: Logger

    /// Cleans up after the sessions of these notifications.
    func run(for notifications: [NotificationRecord]) async throws {
        try await run(sessionIDs: notifications.compactMap(\.faceSessionID))
    }

    /// Cleans up after the given sessions, if they have failed or are redeemed.
    func run(sessionIDs: [UUID]) async throws {
        let released = try await SessionRepository(transaction).releaseInstalls(ofSettled: sessionIDs)
        let deleted = try await PushInstallRepository(transaction).deleteUnneeded(ids: released)
        if deleted > 0 { logger.debug("unbound installations deleted", metadata: ["count": "\(deleted)"]) }
    }
}

extension NotificationRecord {
    /// The session whose result this is about; nil for other notifications.
    fileprivate var faceSessionID: UUID? {
        recipient.type == .session && kind.type.isSessionResult ? UUID(wireString: recipient.id) : nil
    }
}
