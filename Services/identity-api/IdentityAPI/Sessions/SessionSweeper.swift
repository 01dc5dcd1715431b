internal import BlobStore
internal import EventBus
internal import FoundationEssentials
internal import Logging
internal import Metrics
internal import PostgresClient
internal import ServiceDefaults
internal import ServiceLifecycle
internal import Storage
internal import WireFormat

/// Ends what nobody ended: sessions past their deadline, photos of decided sessions, records past their life,
/// hashes of photos that are too old to be replayed, answers that are not repeated any more, messages that are not named any
/// more, and what nobody shows any more.
///
/// Any number of instances may sweep; each row is taken by one of them.
struct SessionSweeper: Service {
    /// Rows of one kind that one transaction takes.
    private static let batchSize = 100
    /// How long a worker has to delete the photos of a session it decided.
    private static let photoGracePeriod = Duration.seconds(60)
    /// Photos older than this belong to no session that is still open.
    private static let photoLifetime = Duration.seconds(30 * 60)

    let postgres: PostgresClient
    let blobs: any BlobStore
    let pseudonyms: SessionPseudonyms
    let interval: Duration
    let logger: Logger

    func run() async throws {
        await periodically("sweep", every: interval, logger: logger) { try await sweep() }
    }

    /// Sweeps once.
    func sweep() async throws {
        while try await expireOverdue() == Self.batchSize {}
        let sessions = SessionRepository(postgres)
        while true {
            let leftovers = try await sessions.leftoverPhotos(gracePeriod: Self.photoGracePeriod, limit: Self.batchSize)
            try await deletePhotos(of: leftovers.map(\.sessionID))
            if leftovers.count < Self.batchSize { break }
        }
        while try await sessions.deleteExpired(limit: Self.batchSize) == Self.batchSize {}
        while try await endSignIns() == Self.batchSize {}
        while try await FacePhotoHashRepository(postgres).deleteExpired(limit: Self.batchSize) == Self.batchSize {}
        while try await IdempotencyRepository(postgres).deleteExpired(limit: Self.batchSize) == Self.batchSize {}
        while try await ConversationRepository(postgres).deleteExpired(limit: Self.batchSize) == Self.batchSize {}
        while try await ReceiptRepository(postgres).deleteExpiredReads(limit: Self.batchSize) == Self.batchSize {}
        while try await PresenceRepository(postgres).deleteExpired(limit: Self.batchSize) == Self.batchSize {}
        let stale = try await blobs.deleteStale(under: try BlobKey("ekyc"), olderThan: Self.photoLifetime)
        if stale > 0 { logger.notice("photos that belonged to no session deleted", metadata: ["groups": "\(stale)"]) }
    }

    /// Expires sessions, tells whoever waits and whoever has to push, all in one transaction.
    private func expireOverdue() async throws -> Int {
        let expired = try await postgres.withTransaction { transaction in
            let expired = try await SessionRepository(transaction).expireOverdue(limit: Self.batchSize)
            let outbox = OutboxRepository(transaction)
            for session in expired {
                let ended = EkycCompleted(sessionID: session.id, event: session.event, succeeded: false, reason: .timeout)
                try await outbox.publish(ended, requestID: session.requestID, traceparent: session.traceparent)
                let push = session.resultNotification(succeeded: false, account: nil, pseudonyms: pseudonyms)
                try await outbox.publish(
                    push, requestID: session.requestID, traceparent: session.traceparent, expiresAt: push.expiresAt)
            }
            return expired
        }
        guard !expired.isEmpty else { return 0 }
        for session in expired {
            Counter(
                label: "ekyc_sessions_ended_total",
                dimensions: [("event", session.event.rawValue), ("outcome", SessionReason.timeout.rawValue)]
            ).increment()
        }
        logger.notice("sessions expired", metadata: ["count": "\(expired.count)"])
        try await deletePhotos(of: expired.map(\.id))
        return expired.count
    }

    /// Deletes pairs whose refresh token has ended; a device whose last sign-in that was gets no push any more.
    private func endSignIns() async throws -> Int {
        try await postgres.withTransaction { transaction in
            let ended = try await AccessTokenRepository(transaction).deleteExpired(limit: Self.batchSize)
            let removed = try await PushInstallRepository(transaction).unregisterSignedOut(ended)
            try await OutboxRepository(transaction).publish(removed.map { DeviceRemoved(installationID: $0) })
            return ended.count
        }
    }

    private func deletePhotos(of sessionIDs: [UUID]) async throws {
        for id in sessionIDs { try await blobs.deleteAll(under: try UploadReceiver.prefix(of: id)) }
        try await SessionRepository(postgres).photosDeleted(sessionIDs)
    }
}
