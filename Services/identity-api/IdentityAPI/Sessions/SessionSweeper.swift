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

/// Expires overdue sessions and deletes expired data: photos of decided sessions, sessions, sign-ins, hashes of photos that are too old
/// to be replayed, idempotent answers, messages, reads, presence, invitations, and photos without a session. Each is a separate step:
/// when one fails, the others still run.
///
/// Any number of instances may sweep; each row is processed by one of them.
struct SessionSweeper: Service {
    /// The time that a worker has to delete the photos of a session it decided.
    private static let photoGracePeriod = Duration.seconds(60)
    /// The age from which photos belong to no undecided session.
    private static let photoLifetime = Duration.seconds(30 * 60)

    let postgres: PostgresClient
    let blobs: any BlobStore
    let pseudonyms: SessionPseudonyms
    let interval: Duration
    let logger: Logger
    private let backoff = DeletionBackoff()

    func run() async throws {
        await periodically("sweep", every: interval, logger: logger) { await sweep() }
    }

    /// Sweeps once.
    func sweep() async {
        let steps = RetentionSteps(logger: logger, backoff: backoff)
        let sessions = SessionRepository(postgres)
        await steps.drain("overdue_sessions", expireOverdue)
        await steps.deleteEach("session_photos", id: \.sessionID) {
            try await sessions.leftoverPhotos(gracePeriod: Self.photoGracePeriod, limit: $0, except: $1)
        } delete: {
            try await deletePhotos(of: $0.sessionID)
        }
        await steps.drain("sessions") { try await sessions.deleteExpired(limit: $0) }
        await steps.drain("sign_ins", endSignIns)
        await steps.drain("face_photo_hashes") { try await FacePhotoHashRepository(postgres).deleteExpired(limit: $0) }
        await steps.drain("idempotency_keys") { try await IdempotencyRepository(postgres).deleteExpired(limit: $0) }
        await steps.drain("messages") { try await ConversationRepository(postgres).deleteExpired(limit: $0) }
        await steps.drain("reads") { try await ReceiptRepository(postgres).deleteExpiredReads(limit: $0) }
        await steps.drain("presence") { try await PresenceRepository(postgres).deleteExpired(limit: $0) }
        await steps.drain("invitations") { try await TopicRepository(postgres).deleteExpiredInvitations(limit: $0) }
        await steps.run("stray_photos") {
            let stale = try await blobs.deleteStale(under: BlobFolder.sessions.prefix, olderThan: Self.photoLifetime)
            if stale > 0 { logger.notice("photos that belonged to no session deleted", metadata: ["groups": "\(stale)"]) }
        }
    }

    /// Expires sessions and publishes their completions and pushes, in one transaction.
    private func expireOverdue(limit: Int) async throws -> Int {
        let expired = try await postgres.withTransaction { transaction in
            let expired = try await SessionRepository(transaction).expireOverdue(limit: limit)
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
        for session in expired {
            do { try await deletePhotos(of: session.id) } catch {
                // The step `session_photos` deletes them later.
                logger.info("photos of an expired session are left", metadata: ["session_id": "\(session.id)", "error": "\(error)"])
            }
        }
        return expired.count
    }

    /// Deletes token pairs whose refresh token has expired, and unregisters devices that have no sign-in left.
    private func endSignIns(limit: Int) async throws -> Int {
        try await postgres.withTransaction { transaction in
            let ended = try await AccessTokenRepository(transaction).deleteExpired(limit: limit)
            let removed = try await PushInstallRepository(transaction).unregisterSignedOut(ended)
            DeviceRegistrar.countRemoved(removed.count)
            return ended.count
        }
    }

    private func deletePhotos(of sessionID: UUID) async throws {
        try await blobs.deleteAll(under: BlobFolder.sessions.prefix(of: sessionID))
        try await SessionRepository(postgres).photosDeleted([sessionID])
    }
}
