internal import Accounts
internal import BlobStore
internal import EventBus
internal import FoundationEssentials
internal import Metrics
internal import PostgresClient
internal import Push
internal import ServiceDefaults
internal import WireFormat

/// Expires sessions that no worker has decided in time, gives their places in the streams to waiting sessions of the same addresses, and
/// deletes the photos that workers have left behind.
struct OverdueSessions: Sendable {
    let postgres: PostgresClient
    let blobs: any BlobStore
    let pseudonyms: SessionPseudonyms
    /// The places that an address has in the streams; 0 is no limit.
    let placesPerAddress: Int

    /// Expires sessions and publishes their completions and pushes, in one transaction. The step `session_photos` deletes their photos.
    ///
    /// - Returns: The number of expired sessions, at most `limit`.
    func expire(limit: Int) async throws -> Int {
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
        for session in expired {
            Counter(
                label: "ekyc_sessions_ended_total",
                dimensions: [("event", session.event.rawValue), ("outcome", SessionReason.timeout.rawValue)]
            ).increment()
        }
        return expired.count
    }

    /// Requests the examination of sessions that wait for their turn although their address or site has free places in the streams.
    ///
    /// - Returns: The number of those sessions, at most `limit`.
    func fillTurns(limit: Int) async throws -> Int {
        try await postgres.withTransaction { transaction in
            let places = placesPerAddress == 0 ? limit : placesPerAddress
            let due = try await SessionRepository(transaction).fillTurns(places: places, limit: limit)
            for session in due { try await OutboxRepository(transaction).request(session) }
            return due.count
        }
    }

    /// Deletes the photos of a session.
    func deletePhotos(of sessionID: UUID) async throws {
        try await blobs.deleteAll(under: BlobFolder.sessions.prefix(of: sessionID))
        try await SessionRepository(postgres).photosDeleted([sessionID])
    }
}
