internal import Accounts
internal import BlobStore
internal import EventBus
internal import FaceEngine
internal import FoundationEssentials
internal import HeliographCrypto
internal import Logging
internal import PostgresClient
internal import Push
internal import ServiceDefaults
internal import Tracing
internal import WireFormat

/// Decides an eKYC session from its photos, settles it, publishes its notification and deletes the photos.
///
/// The session's outcome, the face, the hashes of its photos, the inbox mark and the events are one transaction, so a second
/// delivery, or a second worker, changes nothing. The photos are deleted after it, whatever the outcome, but for the good ones of a
/// session that can retake the others. Those, and photos that remain after a crash, are deleted by the session sweeper of identity-api.
struct EkycRequestedHandler: EventHandler {
    let matcher: SessionMatcher
    let duplicates: DuplicateCheck
    /// Seals the faces of accounts.
    let sealer: Sealer
    let postgres: PostgresClient
    let blobs: any BlobStore
    let pseudonyms: SessionPseudonyms

    func handle(_ event: Envelope<EkycRequested>, _ context: HandlerContext) async throws {
        let sessionID = event.body.sessionID
        guard try await !context.isHandled(), let session = try await SessionRepository(postgres).beginProcessing(id: sessionID) else {
            return await deletePhotos(of: sessionID, context.logger)
        }
        let examined = try await examine(session, context)
        do {
            let outcome = try await context.commit { transaction in
                try await withSpan("settle session") { _ in
                    try await settle(session, examined, causedBy: event, in: transaction)
                }
            }
            if let outcome {
                FaceMatchingMetrics.decided(session, outcome, examined.liveness)
                context.logger.info(
                    "session decided",
                    metadata: ["session": "\(sessionID)", "event": "\(session.event.rawValue)", "outcome": "\(outcome)"])
            }
        } catch is AlreadyDecided {
            // Another worker, or the sweeper, has settled the session first; this transaction was rolled back.
        }
        await deletePhotos(of: sessionID, examined: session, context.logger)
    }

    private func examine(_ session: Session, _ context: HandlerContext) async throws -> ExaminedSession {
        // A photo that crashes the process throws no error: after ``PermanentFailure/maxCrashes`` crashes it is not analysed again.
        guard context.crashes < PermanentFailure.maxCrashes else {
            context.logger.error("session given up after too many crashes", metadata: ["session": "\(session.id)"])
            return ExaminedSession(verdict: .refused(.internal))
        }
        do {
            return try await withSpan("match face") { span in
                span.attributes["heliograph.session_event"] = session.event.rawValue
                return try await matcher.examine(session)
            }
        } catch {
            guard PermanentFailure.isReached(error, deliveryCount: context.deliveryCount) else { throw error }
            context.logger.error("session cannot be decided", metadata: ["session": "\(session.id)", "error": "\(error)"])
            return ExaminedSession(verdict: .refused(.internal))
        }
    }

    /// Settles the session in the transaction.
    private func settle(
        _ session: Session, _ examined: ExaminedSession, causedBy event: Envelope<EkycRequested>,
        in transaction: PostgresTransaction
    ) async throws -> SessionOutcome {
        let settlement = try await apply(examined, to: session, causedBy: event, in: transaction)
        let isSettled = try await SessionRepository(transaction).complete(
            id: session.id, outcome: settlement.outcome, problems: examined.problems, liveness: Liveness(examined.liveness),
            cost: examined.engineTime)
        guard isSettled else { throw AlreadyDecided() }
        try await AuditRepository(transaction).append(settlement.auditEntry(of: session))
        let reason: SessionReason? = if case .failed(let reason) = settlement.outcome { reason } else { nil }
        let outbox = OutboxRepository(transaction)
        try await outbox.publish(
            EkycCompleted(sessionID: session.id, event: session.event, succeeded: reason == nil, reason: reason),
            causedBy: event)
        let notification = session.resultNotification(
            succeeded: reason == nil, account: settlement.account, pseudonyms: pseudonyms)
        try await outbox.publish(notification, causedBy: event, expiresAt: notification.expiresAt)
        if let next = try await SessionRepository(transaction).nextTurn(after: session) { try await outbox.request(next) }
        return settlement.outcome
    }

    /// Applies the verdict and returns the settlement. The database decides whether the account has a face already, and whether the photos
    /// are new.
    ///
    /// The photos are used up in any case: photos of a refused session must not be accepted later, either.
    private func apply(
        _ examined: ExaminedSession, to session: Session, causedBy event: Envelope<EkycRequested>,
        in transaction: PostgresTransaction
    ) async throws -> Settlement {
        let photos = FacePhotoHashRepository(transaction)
        switch examined.verdict {
        case .refused(let reason):
            // A sign-up without a proof belongs to no account.
            let hasOwner = session.event == .signIn || session.authorised || session.verificationID != nil
            if hasOwner { try await photos.add(examined.photos, accepted: false, series: session.seriesID) }
            return .failed(reason)
        case .recognised:
            let ids = [session.attemptKey ?? session.userID] + session.otherAttemptKeys
            for id in ids.sorted(by: { $0.uuidString < $1.uuidString }) { try await photos.lock(userID: id) }
            // Another session may have used them up since they were examined.
            let known = examined.photos + examined.photosOfAccount
            let isReplay = try await photos.containsAny(
                of: known + examined.photosOfOtherKeys, maxDistance: FaceSignatureHasher.maxDistance,
                isTrusted: session.isTrusted, series: session.seriesID)
            try await photos.add(isReplay ? examined.photos : known, accepted: !isReplay, series: session.seriesID)
            if !isReplay, session.isRetake { try await photos.accept(known, ofSeries: session.seriesID) }
            return isReplay ? .failed(.replayedImage) : Settlement(outcome: .succeeded, account: session.userID)
        case .enrol(let face):
            let enrolment = Enrolment(
                sealer: sealer, duplicates: duplicates, findings: examined.duplicates, transaction: transaction)
            let settlement = try await enrolment.enrol(face, photos: examined.photos, for: session, causedBy: event)
            switch settlement.outcome {
            case .failed: try await photos.add(examined.photos, accepted: false, series: session.seriesID)
            case .succeeded: if session.isRetake { try await photos.accept(examined.photos, ofSeries: session.seriesID) }
            }
            return settlement
        }
    }

    /// Deletes the photos of a decided session, but for those that are kept for a retake. A delivery after the decision does so as well,
    /// because the worker of the first may have died before.
    ///
    /// - Parameter examined: The session as this worker has examined it: all its photos are deleted if its row was erased meanwhile.
    private func deletePhotos(of id: UUID, examined: Session? = nil, _ logger: Logger) async {
        let sessions = SessionRepository(postgres)
        do {
            // Another worker may have decided it, and kept photos.
            let row = try await sessions.find(ids: [id]).first
            guard row?.state.isTerminal ?? true, let photos = row?.unneededPhotos ?? examined?.photos, !photos.isEmpty else { return }
            try await blobs.delete(try photos.map { photo throws(BlobStoreError) in try BlobKey(photo.key) })
            if row?.photosKeptUntil == nil { try await sessions.photosDeleted([id]) }
        } catch {
            // The session stays decided; its row still lists the photos, so that the sweeper finds them.
            logger.error("photos not deleted yet", metadata: ["session": "\(id)", "error": "\(error)"])
        }
    }
}

/// Thrown to roll back the transaction when the session was settled elsewhere.
private struct AlreadyDecided: Error {}
