internal import BlobStore
internal import FoundationEssentials
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import Storage
internal import WireFormat

/// Answers `POST /api/v1/ekyc/upload-photos` and `POST /api/v1/ekyc/login`.
///
/// Both are repeatable: a request with the key and the photos of an earlier one gets the earlier answer, with its session token.
struct UploadController: Sendable {
    /// The time for which a repetition gets the first answer: apps repeat at once, and the session is decided within this time.
    private static let answerLifetime = Duration.seconds(10 * 60)

    let blobs: any BlobStore
    let starter: SessionStarter
    let authenticator: any Authenticator
    let slots: UploadSlots
    let limits: UploadLimits

    func upload(_ form: UploadForm, _ request: Request, _ context: APIRequestContext) async throws -> Response {
        let boundary = try request.multipartBoundary()
        let key = try IdempotencyKey.read(request.headers)
        try request.checkContentLength(upTo: limits.bodyBytes)
        let identity = try await identity(of: request, form)
        // A sign-up counts as known only with a bearer. The installation of a sign-in is in its form, which is not read yet.
        try await starter.checkAdmission(
            from: context.client, bearer: identity, mayBeKnown: form.event == .signIn || identity != nil, route: form.route, key: key)
        let sessionID = UUID()
        let prefix = BlobFolder.sessions.prefix(of: sessionID)
        return try await slots.withSlot(for: context.client) {
            try await blobs.deletingOnFailure(under: prefix, context.logger) {
                context.askForBody()
                var body = MultipartBody(
                    request.body, boundary: boundary, fields: form.fields, maxBytes: limits.bodyBytes, limits: limits)
                let upload = try await UploadReceiver(form: form, sessionID: sessionID, blobs: blobs, limits: limits).receive(&body)
                let order = try Self.order(of: upload, form, identity)
                return try await repeatable(order, key, context).run { attempt in
                    let answer = try await attempt.answer(to: order.fingerprint) { lease in
                        try await start(order, key, sessionID: sessionID, lease: lease, context)
                    }
                    if attempt.isRepetition { await blobs.discard(prefix, context.logger) }
                    return respond(with: answer, isReplay: attempt.isRepetition, order, key)
                }
            }
        }
    }

    private func repeatable(_ order: SessionOrder, _ key: String?, _ context: APIRequestContext) -> RepeatableRequest {
        let scope = key.map { IdempotencyScope(userID: starter.claimedUserID(of: order.owner), route: order.form.route, key: $0) }
        return RepeatableRequest(scope: scope, lifetime: Self.answerLifetime, postgres: starter.postgres, logger: context.logger)
    }

    private func start(
        _ order: SessionOrder, _ key: String?, sessionID: UUID, lease: IdempotencyLease?, _ context: APIRequestContext
    ) async throws -> IdempotencyAnswer {
        let answer = try await starter.start(
            order, sessionID: sessionID, token: token(of: sessionID, order, key), lease: lease,
            origin: SessionStarter.Origin(address: context.client, requestID: context.requestID, traceparent: context.traceparent))
        context.logger.info(
            "session started", metadata: ["session_id": "\(sessionID.wireString)", "event": "\(order.form.event.rawValue)"])
        return answer
    }

    private func respond(with answer: IdempotencyAnswer, isReplay: Bool, _ order: SessionOrder, _ key: String?) -> Response {
        var response = Answer.kept(answer, isReplay: isReplay)
        response.headers[.sessionToken] = token(of: answer.resourceID, order, key).text
        response.headers[.cacheControl] = "no-store"
        return response
    }

    /// The session's token, known only to the device that started the session.
    private func token(of sessionID: UUID, _ order: SessionOrder, _ key: String?) -> OpaqueToken {
        starter.keys.sessionToken(of: sessionID, key: key ?? "", fingerprint: order.fingerprint)
    }

    /// The sender of a sign-up with a bearer. An invalid bearer is refused even when the form has an e-mail.
    private func identity(of request: Request, _ form: UploadForm) async throws -> Identity? {
        guard form.event == .signUp, let token = try request.bearer() else { return nil }
        return try await authenticator.identify(bearer: token)
    }

    private static func order(
        of upload: ReceivedUpload, _ form: UploadForm, _ identity: Identity?
    ) throws(APIError) -> SessionOrder {
        let owner = try owner(of: upload, form, identity)
        guard let pushToken = upload.texts[UploadForm.pushToken], !pushToken.isEmpty else {
            throw APIError(.missingField, "The device's push token is missing", field: UploadForm.pushToken)
        }
        guard let target = PushTarget(pushToken) else {
            throw APIError(.invalidRequest, "The device's push token is not one", field: UploadForm.pushToken)
        }
        let fingerprint = upload.fingerprint(sender: identity.map { $0.userID.wireString } ?? "")
        return SessionOrder(form: form, owner: owner, target: target, upload: upload, fingerprint: fingerprint)
    }

    private static func owner(
        of upload: ReceivedUpload, _ form: UploadForm, _ identity: Identity?
    ) throws(APIError) -> UploadOwner {
        if let identity { return .authorised(identity) }
        guard let text = upload.texts[UploadForm.email], !text.isEmpty else {
            guard form.event == .signIn else {
                throw APIError.unauthorized("A sign-up needs a bearer token or the field \"email\"")
            }
            throw APIError(.missingField, "The e-mail address is missing", field: UploadForm.email)
        }
        guard let email = EmailAddress(text) else {
            throw APIError(.invalidEmail, "This is not an e-mail address", field: UploadForm.email)
        }
        return .email(email)
    }
}
