internal import FoundationEssentials
internal import Logging
internal import PostgresClient
internal import Storage
internal import WireFormat

/// Wipes what face sessions left behind for a push that has ended.
struct FinishedSessions {
    let transaction: PostgresTransaction
    let logger: Logger

    /// Wipes the push tokens of the sessions that these notifications were about, and deletes the installations that only a
    /// session without success had brought.
    func forgetDevices(of notifications: [NotificationRecord]) async throws {
        let sessionIDs = notifications.compactMap(\.faceSessionID)
        guard !sessionIDs.isEmpty else { return }
        let sessions = SessionRepository(transaction)
        try await sessions.wipePushTokens(sessionIDs)
        let failed = try await sessions.find(ids: sessionIDs).filter { $0.state != .succeeded }
        let deleted = try await PushInstallRepository(transaction)
            .deleteUnneeded(installationKeys: failed.compactMap(\.installationKey))
        if deleted > 0 { logger.debug("installations of nobody deleted", metadata: ["count": "\(deleted)"]) }
    }
}

extension NotificationRecord {
    /// The session, when this was about the result of one.
    fileprivate var faceSessionID: UUID? {
        guard recipient.type == .session else { return nil }
        switch kind {
        case .signUp, .signIn: return UUID(uuidString: recipient.id)
        case .jobCompleted, .jobFailed, .newPhotos, .chatMessage, .invitation: return nil
        }
    }
}
