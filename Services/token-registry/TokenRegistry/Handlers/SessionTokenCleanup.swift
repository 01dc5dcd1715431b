internal import FoundationEssentials
internal import Logging
internal import PostgresClient
internal import Storage
internal import WireFormat

/// Deletes the push tokens that face sessions have kept for a push that has ended.
struct SessionTokenCleanup {
    let transaction: PostgresTransaction
    let logger: Logger

    /// Wipes the push tokens of the sessions of these notifications, and deletes the installations that only a failed session has
    /// registered.
    func run(for notifications: [NotificationRecord]) async throws {
        let sessionIDs = notifications.compactMap(\.faceSessionID)
        guard !sessionIDs.isEmpty else { return }
        let sessions = SessionRepository(transaction)
        try await sessions.wipePushTokens(sessionIDs)
        let failed = try await sessions.find(ids: sessionIDs).filter { $0.state != .succeeded }
        let deleted = try await PushInstallRepository(transaction)
            .deleteUnneeded(installationKeys: failed.compactMap(\.installationKey))
        if deleted > 0 { logger.debug("unbound installations deleted", metadata: ["count": "\(deleted)"]) }
    }
}

extension NotificationRecord {
    /// The session whose result this is about; nil for other notifications.
    fileprivate var faceSessionID: UUID? {
        guard recipient.type == .session else { return nil }
        switch kind {
        case .signUp, .signIn: return UUID(uuidString: recipient.id)
        case .jobCompleted, .jobFailed, .newPhotos, .chatMessage, .invitation: return nil
        }
    }
}
