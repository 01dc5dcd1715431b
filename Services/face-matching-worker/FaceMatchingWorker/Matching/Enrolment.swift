internal import Accounts
internal import EventBus
internal import FaceEngine
internal import FoundationEssentials
internal import HeliographCrypto
internal import PostgresClient
internal import Push
internal import ServiceDefaults
internal import WireFormat

/// The outcome of a session, with the account that its push may be addressed to.
struct Settlement: Sendable {
    let outcome: SessionOutcome
    /// The account whose face was enrolled or recognised; nil when no account was changed or proven.
    var account: UUID?

    static func failed(_ reason: SessionReason) -> Settlement { Settlement(outcome: .failed(reason)) }
}

/// Writes the face of a sign-up, in the transaction that ends its session.
struct Enrolment {
    let sealer: Sealer
    let duplicates: DuplicateCheck
    /// Accounts with the same face; empty with duplicate search off.
    let findings: DuplicateSearch.Findings?
    let transaction: PostgresTransaction

    /// Enrols an accepted face: for the account of the access token, for a proven e-mail, or for an e-mail that is yet to be proven.
    func enrol(_ face: EnrolledFace, photos: [PhotoFingerprint], for session: Session, causedBy event: Envelope<EkycRequested>) async throws
        -> Settlement
    {
        // Taken before the lock that all enrolments share: the requests for codes of this e-mail may be many, and only they wait for this
        // lock.
        if let email = session.email {
            let verification = verification(of: email, for: session, causedBy: event)
            try await EmailVerificationRepository(transaction).deleteSurplus(before: verification)
        }
        let others = try await duplicates.result(of: findings, on: face, of: session, in: transaction)
        guard !others.isRefused else { return .failed(.faceInUse) }
        let settlement = try await store(try sealed(face, for: session.userID), photos: photos, for: session, causedBy: event)
        if settlement.outcome == .succeeded { try await duplicates.record(others, of: session, in: transaction) }
        return settlement
    }

    private func store(
        _ sealed: NewFaceTemplate, photos: [PhotoFingerprint], for session: Session, causedBy event: Envelope<EkycRequested>
    ) async throws -> Settlement {
        if session.authorised { return try await enrol(sealed, photos: photos, authorisedBy: session) }
        if let verification = session.verificationID {
            return try await enrol(sealed, photos: photos, for: session, verifiedBy: verification, causedBy: event)
        }
        guard let email = session.email else { return .failed(.internal) }
        return try await suspend(sealed, photos: photos, of: session, until: email, causedBy: event)
    }

    /// Enrols the face of a bearer's account, or replaces it, if the bearer's sign-in still holds; tells the other devices, and ends their
    /// sign-ins if it was replaced.
    private func enrol(
        _ sealed: NewFaceTemplate, photos: [PhotoFingerprint], authorisedBy session: Session
    ) async throws -> Settlement {
        let signIns = SignInRepository(transaction)
        try await signIns.lock(of: session.userID)
        guard try await signIns.hold(session.authorisedBy, of: session.userID, since: session.createdAt) else {
            return .failed(.alreadyEnrolled)
        }
        // The first e-mail removes a face that was enrolled before it. So a face uploaded before it must not be enrolled after it.
        guard try await !UserRepository(transaction).hasGotFirstEmail(id: session.userID, since: session.createdAt) else {
            return .failed(.alreadyEnrolled)
        }
        let isReplaced = try await FaceTemplateRepository(transaction).upsert(sealed)
        if isReplaced { try await endOthers(signIns, of: session) }
        try await alert(others: session)
        // A recovery would replace this face.
        try await RecoveryCancellation.cancel(
            of: session.userID, detail: "face_replaced", requestID: session.requestID, traceparent: session.traceparent,
            addressKey: session.origin.addressKey, in: transaction)
        try await FacePhotoHashRepository(transaction).add(photos, accepted: true, series: session.seriesID)
        try await recordConsent(of: session)
        return Settlement(outcome: .succeeded, account: session.userID)
    }

    /// Ends the sign-ins by the former face, except the sign-in that replaced the face.
    private func endOthers(_ signIns: SignInRepository, of session: Session) async throws {
        // An upload needs a recent sign-in. One with an identity provider has no id: it is kept by its time.
        let upload = session.createdAt.addingTimeInterval(-(SignInRepository.recentTime / .seconds(1)))
        _ = try await signIns.endAll(
            of: session.userID, except: session.authorisedBy, providersBefore: session.authorisedBy == nil ? upload : nil, isNoticed: true)
        try await AuditRepository(transaction).append(
            AuditEntry(
                .signInsEnded, by: .system(FaceMatchingWorker.name), on: session.userID, object: session.authorisedBy,
                requestID: session.requestID, detail: "face_replaced"))
    }

    /// Tells the other devices of the account that its face was replaced, or that its first face was enrolled.
    private func alert(others session: Session) async throws {
        var own: UUID?
        if let key = session.installationKey {
            own = try await PushInstallRepository(transaction).boundID(of: key, userID: session.userID)
        }
        let alert = AccountAlertPush(.faceChanged, of: session.userID).request(except: own, cause: session.id)
        try await OutboxRepository(transaction).publish(
            alert, requestID: session.requestID, traceparent: session.traceparent, expiresAt: alert.expiresAt)
    }

    /// Creates the account of a proven e-mail with its first face. If the e-mail has an account, nothing changes, unless a recovery was
    /// asked for: the recovery begins, if the account still has this e-mail.
    private func enrol(
        _ face: NewFaceTemplate, photos: [PhotoFingerprint], for session: Session, verifiedBy verification: UUID,
        causedBy event: Envelope<EkycRequested>
    ) async throws -> Settlement {
        // Taken before the e-mail's lock, in the order of a change of the e-mail. Such a change ends a recovery: either it sees this
        // recovery, or this transaction sees the change.
        try await SignInRepository(transaction).lock(of: session.userID)
        let users = UserRepository(transaction)
        if try await users.create(id: session.userID, verified: verification) {
            try await FaceTemplateRepository(transaction).upsert(face)
            try await FacePhotoHashRepository(transaction).add(photos, accepted: true, series: session.seriesID)
            try await recordConsent(of: session)
            return Settlement(outcome: .succeeded, account: session.userID)
        }
        guard session.isRecovery, let proven = try await users.lookupsProven(by: verification, of: session.userID) else {
            return .failed(.alreadyEnrolled)
        }
        try await PendingEnrolmentRepository(transaction).startRecovery(
            id: session.id, face: face, photos: photos, emailLookups: proven, consent: session.consent)
        let outbox = OutboxRepository(transaction)
        try await outbox.publish(MailRequested(kind: .recoveryStarted, subjectID: session.userID), causedBy: event)
        let alert = AccountAlertPush(.recoveryStarted, of: session.userID).request(cause: session.id)
        try await outbox.publish(alert, causedBy: event, expiresAt: alert.expiresAt)
        try await AuditRepository(transaction).append(
            AuditEntry(
                .recoveryStarted, by: .anonymous, on: session.userID, object: session.id, requestID: session.requestID,
                addressKey: session.origin.addressKey))
        return Settlement(outcome: .succeeded, account: session.userID)
    }

    /// Keeps a face until its e-mail is proven; the code has a place in the next mail, which identity-api sends.
    ///
    /// The same statements run whether or not the e-mail has an account: the sender has proven nothing, and must not learn it.
    private func suspend(
        _ face: NewFaceTemplate, photos: [PhotoFingerprint], of session: Session, until email: SealedEmail,
        causedBy event: Envelope<EkycRequested>
    ) async throws -> Settlement {
        try await PendingEnrolmentRepository(transaction).insert(
            id: session.id, face: face, photos: photos, consent: session.consent, refusesDuplicates: duplicates.policy == .refuse)
        _ = try await EmailVerificationRepository(transaction).insert(verification(of: email, for: session, causedBy: event))
        return Settlement(outcome: .succeeded)
    }

    private func verification(
        of email: SealedEmail, for session: Session, causedBy event: Envelope<EkycRequested>
    ) -> NewEmailVerification {
        NewEmailVerification(
            id: session.id, purpose: .enrolment, accountID: session.userID, email: email, origin: session.origin,
            requestID: event.requestID, traceparent: event.traceparent)
    }

    /// Stores the consent that came with the photos, now that the face takes effect. A face that waits keeps it until then.
    private func recordConsent(of session: Session) async throws {
        guard let consent = session.consent else { return }
        try await ConsentRepository(transaction).record(consent, of: session.userID, session: session.id)
    }

    private func sealed(_ face: EnrolledFace, for userID: UUID) throws -> NewFaceTemplate {
        NewFaceTemplate(
            userID: userID, modelID: face.modelID, pipelineVersion: Int(face.pipelineVersion),
            templateSealed: try sealer.seal(face.encoded(), context: SealingContext.faceTemplate(userID: userID)))
    }
}
