internal import Accounts
internal import BlobStore
internal import FoundationEssentials
internal import HTTPTypes
internal import HeliographCrypto
internal import Hummingbird
internal import Logging
internal import Mail
internal import Push
internal import WireFormat

/// Answers `POST /api/v1/ekyc/upload-photos` and `POST /api/v1/ekyc/login`.
///
/// Both are repeatable: a request with the key and the photos of an earlier one gets the earlier answer, with its session token.
struct UploadController: Sendable {
    /// The time for which a repetition gets the first answer: apps repeat at once, and the session is decided within this time.
    private static let answerLifetime = Duration.seconds(10 * 60)

    let uploads: UploadPipeline
    let starter: SessionStarter
    let limits: UploadLimits
    /// The consent that a sign-up needs; nil if a sign-up needs no consent.
    let consent: ConsentRequirement?
    let challenges: ChallengeGate
    let retakes: PhotoRetakes
    let mail: any MailSender

    /// The credentials of an upload that are not in its form.
    private struct Credentials {
        /// The idempotency key.
        let key: String?
        /// The token of the failed session whose photos are retaken.
        let retakenToken: String?
        /// The owner that a sign-up's bearer token names: by an access token an account, by an enrolment token a proven e-mail.
        var bearer: UploadOwner?
        /// The proof of the e-mail that comes with a sign-in.
        var proof: EmailVerification?
        /// The proof of the device's key that comes with a sign-in.
        var deviceProof: DeviceProof?
    }

    func signUp(_ call: APICall<UploadOwner?, (String?, String?), SignUpForm>) async throws -> Response {
        let credentials = Credentials(key: call.target.0, retakenToken: call.target.1, bearer: call.sender)
        return try await upload(.signUp, call.body.stream, credentials, call.context)
    }

    func signIn(_ call: APICall<KeyedSender<EmailVerification?>, (String?, String?), SignInForm>) async throws -> Response {
        let credentials = Credentials(
            key: call.target.0, retakenToken: call.target.1, proof: call.sender.value, deviceProof: call.sender.proof)
        return try await upload(.signIn, call.body.stream, credentials, call.context)
    }

    /// Receives the photos of a form, and starts their session.
    private func upload(
        _ form: UploadForm, _ stream: FormStream, _ credentials: Credentials, _ context: APIRequestContext
    ) async throws -> Response {
        let (bearer, key) = (credentials.bearer, credentials.key)
        let refusal = try await refusalOfSender(bearer?.bearer, form, key, context)
        // A sign-up counts as known only with an access token. The installation of a sign-in is in its form, which is not read yet.
        try await starter.checkAdmission(
            from: context.client, bearer: bearer?.bearer, mayBeKnown: form.event == .signIn || bearer?.bearer != nil, route: form.route,
            key: key)
        let sessionID = UUID()
        let prefix = BlobFolder.sessions.prefix(of: sessionID)
        return try await uploads.run(storingUnder: prefix, scope: nil, limits: limits.face, context) { _, receiver in
            var body = MultipartBody(
                stream.bytes, boundary: stream.boundary, fields: form.fields, maxBytes: limits.bodyBytes, limits: limits)
            let upload = try await UploadReceiver(form: form, sessionID: sessionID, pictures: receiver).receive(&body)
            let order = try self.order(of: upload, form, credentials)
            return try await repeatable(order, key, context).run { attempt in
                let answer = try await attempt.answer(to: order.fingerprint) { lease in
                    if let refusal { throw refusal }
                    return try await start(order, key, sessionID: sessionID, lease: lease, context) { order in
                        try await retakes.completed(
                            order, sessionToken: credentials.retakenToken, as: sessionID, from: context.client,
                            onProgress: { try await attempt.lease?.renewIfDue() })
                    }
                }
                if attempt.isRepetition { await uploads.blobs.discard(prefix, context.logger) }
                return try await respond(with: answer, isReplay: attempt.isRepetition, order, key)
            }
        }
    }

    private func repeatable(_ order: SessionOrder, _ key: String?, _ context: APIRequestContext) -> RepeatableRequest {
        let ids = starter.countedIDs(of: order.owner)
        let scope = key.map {
            IdempotencyScope(userID: ids[0], otherUserIDs: Array(ids.dropFirst()), route: order.form.route, key: $0)
        }
        return RepeatableRequest(scope: scope, lifetime: Self.answerLifetime, postgres: starter.postgres, logger: context.logger)
    }

    private func start(
        _ order: SessionOrder, _ key: String?, sessionID: UUID, lease: IdempotencyLease?, _ context: APIRequestContext,
        completing complete: (SessionOrder) async throws -> SessionOrder
    ) async throws -> IdempotencyAnswer {
        let consented: ConsentedText? =
            order.form.event == .signUp
            ? try consent?.check(order.upload.texts[ConsentRequirement.field]) : nil
        let challenge =
            order.upload.retakeOf == nil
            ? try challenges.check(order.upload.texts[ChallengeGate.field], beganAt: context.arrivedAt) : nil
        let answer = try await starter.start(
            order, consented, challenge, sessionID: sessionID, token: tokens(of: sessionID, order, key)[0], lease: lease,
            origin: SessionStarter.Origin(
                address: context.client, requestID: context.requestID, traceparent: context.traceparent,
                limits: context.limits), completing: complete)
        context.logger.info(
            "session started", metadata: ["session_id": "\(sessionID.wireString)", "event": "\(order.form.event.rawValue)"])
        return answer
    }

    private func respond(
        with answer: IdempotencyAnswer, isReplay: Bool, _ order: SessionOrder, _ key: String?
    ) async throws -> Response {
        var response = Answer.kept(answer, isReplay: isReplay)
        let tokens = tokens(of: answer.resourceID, order, key)
        var token = tokens[0]
        if isReplay, tokens.count > 1 {
            // Another key may have been the first one at the time of the request.
            let hash = try await SessionRepository(starter.postgres).find(id: answer.resourceID)?.tokenHash
            token = tokens.first { $0.hash == hash } ?? token
        }
        response.headers[.sessionToken] = token.text
        response.headers[.cacheControl] = "no-store"
        return response
    }

    /// The session's token, known only to the device that started the session; one for each key; a new session gets the first.
    private func tokens(of sessionID: UUID, _ order: SessionOrder, _ key: String?) -> [OpaqueToken] {
        starter.keys.sessionTokens(of: sessionID, key: key ?? "", fingerprint: order.fingerprint)
    }

    /// Requires a recent sign-in for every sign-up with a bearer, the first face of an account included: with a stolen token, a thief
    /// would plant a face that opens the account as soon as it has an e-mail. The time of the request counts, not that of the whole upload,
    /// which may take minutes.
    ///
    /// - Returns: The refusal of any request except the repetition of an answered one.
    private func refusalOfSender(
        _ identity: Identity?, _ form: UploadForm, _ key: String?, _ context: APIRequestContext
    ) async throws -> APIError? {
        guard let identity else { return nil }
        do throws(APIError) {
            try identity.requireRecentSignIn(now: context.arrivedAt)
            return nil
        } catch {
            guard let key, try await IdempotencyRepository(starter.postgres).isAnswered(route: form.route, key: key) else { throw error }
            return error
        }
    }

    private func order(
        of upload: ReceivedUpload, _ form: UploadForm, _ credentials: Credentials
    ) throws(APIError) -> SessionOrder {
        let (proof, deviceProof) = (credentials.proof, credentials.deviceProof)
        let owner = try owner(of: upload, form, credentials.bearer)
        if let proof, case .email(let email) = owner, Set(proof.email.lookups).isDisjoint(with: starter.keys.emailLookups(email)) {
            throw APIError.unauthorized("The enrolment token proves another e-mail address than the one in the form")
        }
        let target = try PushTarget(ofClient: upload.texts[UploadForm.pushToken], field: UploadForm.pushToken)
        try Self.checkAnswer(of: upload, form)
        // A session is redeemed with the key of its upload only, so that another key makes another request.
        let sender = (owner.bearer?.userID ?? owner.verification?.id)?.wireString ?? ""
        let key = deviceProof.map { ":\(Hex.encode($0.key.thumbprint))" } ?? ""
        return SessionOrder(
            form: form, owner: owner, target: target, upload: upload, proof: proof, deviceProof: deviceProof,
            fingerprint: upload.fingerprint(sender: sender + key))
    }

    private func owner(
        of upload: ReceivedUpload, _ form: UploadForm, _ bearer: UploadOwner?
    ) throws(APIError) -> UploadOwner {
        let isRecovery = try Self.isRecovery(upload)
        if case .verified(let verification, _) = bearer { return .verified(verification, isRecovery: isRecovery) }
        guard !isRecovery else {
            throw APIError(.invalidRequest, "A recovery needs the enrolment token of a verified e-mail", field: UploadForm.recovery)
        }
        if let bearer { return bearer }
        guard let text = upload.texts[UploadForm.email], !text.isEmpty else {
            guard form.event == .signIn else {
                throw APIError.unauthorized("A sign-up needs a bearer token or the field \"email\"")
            }
            throw APIError(.missingField, "The e-mail address is missing", field: UploadForm.email)
        }
        return .email(try EmailAddress(ofClient: text, for: form.event == .signUp ? mail : nil))
    }

    /// Refuses a sign-up that names a challenge without the photos that answer it, and the reverse.
    private static func checkAnswer(of upload: ReceivedUpload, _ form: UploadForm) throws(APIError) {
        guard form.event == .signUp, upload.retakeOf == nil else { return }
        let hasPhotos = upload.photos.contains { $0.pose == .challenge }
        let hasChallenge = upload.texts[ChallengeGate.field].map { !$0.isEmpty } ?? false
        guard hasPhotos != hasChallenge else { return }
        throw hasPhotos
            ? APIError(.missingField, "The challenge that photos answer is missing", field: ChallengeGate.field)
            : APIError(.missingField, "The photos that answer the challenge are missing", field: ChallengeGate.photosField)
    }

    private static func isRecovery(_ upload: ReceivedUpload) throws(APIError) -> Bool {
        try Flag.read(text: upload.texts[UploadForm.recovery], field: UploadForm.recovery) ?? false
    }
}
