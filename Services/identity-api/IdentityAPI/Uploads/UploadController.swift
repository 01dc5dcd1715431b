internal import BlobStore
internal import FoundationEssentials
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import Multipart
internal import NIOCore
internal import Storage
internal import WireFormat

/// Answers `POST /api/v1/ekyc/upload-photos` and `POST /api/v1/ekyc/login`.
struct UploadController: Sendable {
    let blobs: any BlobStore
    let starter: SessionStarter
    let authenticator: any Authenticator
    let slots: UploadSlots
    let limits: UploadLimits

    func upload(_ form: UploadForm, _ request: Request, _ context: APIRequestContext) async throws -> Response {
        let boundary = try request.multipartBoundary()
        if let length = request.contentLength, length > limits.bodyBytes {
            throw APIError(.payloadTooLarge, "The body is larger than \(limits.bodyBytes / 1_048_576) MB")
        }
        let identity = try await identity(of: request, form)
        return try await slots.withSlot(for: context.client) {
            let sessionID = UUID()
            do {
                let upload = try await receive(form, request, context, sessionID: sessionID, boundary: boundary)
                return try await start(upload, form, identity, sessionID: sessionID, request, context)
            } catch let error as OutcomeUnknown {
                // The worker may need the photos; if there is no session after all, the sweeper removes them.
                throw error.underlying
            } catch {
                await discard(sessionID, context)
                throw error
            }
        }
    }

    private func receive(
        _ form: UploadForm, _ request: Request, _ context: APIRequestContext, sessionID: UUID, boundary: MultipartBoundary
    ) async throws -> ReceivedUpload {
        context.askForBody()
        var body = MultipartBody(request.body, boundary: boundary, maxBytes: limits.bodyBytes)
        let receiver = UploadReceiver(form: form, sessionID: sessionID, blobs: blobs, limits: limits)
        return try await receiver.receive(&body)
    }

    private func start(
        _ upload: ReceivedUpload, _ form: UploadForm, _ identity: Identity?, sessionID: UUID, _ request: Request,
        _ context: APIRequestContext
    ) async throws -> Response {
        let owner = try Self.owner(of: upload, form, identity)
        guard let pushToken = upload.texts[UploadForm.pushToken], !pushToken.isEmpty else {
            throw APIError(.missingField, "The device's push token is missing", field: UploadForm.pushToken)
        }
        guard let target = PushTarget(pushToken) else {
            throw APIError(.invalidRequest, "The device's push token is not one", field: UploadForm.pushToken)
        }
        let started = try await starter.start(
            upload, sessionID: sessionID, form: form, owner: owner, target: target, requestID: context.requestID,
            traceparent: context.traceparent)
        let id = started.sessionID.uuidString.lowercased()
        context.logger.info("session started", metadata: ["session_id": "\(id)", "event": "\(form.event.rawValue)"])
        var response = Answer.success(form.successMessage, data: .members(("session_id", .string(id))))
        response.headers[.sessionToken] = started.token.text
        response.headers[.cacheControl] = "no-store"
        return response
    }

    /// The sender of a sign-up that carries a bearer; a bearer that is no good is refused even beside an e-mail.
    private func identity(of request: Request, _ form: UploadForm) async throws -> Identity? {
        guard form.event == .signUp, let token = try request.bearer() else { return nil }
        return try await authenticator.identify(bearer: token)
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

    /// Deletes what a failed upload stored; it goes on though the request is cancelled.
    private func discard(_ sessionID: UUID, _ context: APIRequestContext) async {
        do {
            try await blobs.deleteAll(under: try UploadReceiver.prefix(of: sessionID))
        } catch {
            // The sweeper finds them later: no session has them.
            context.logger.error("photos of a failed upload are left", metadata: ["error": "\(error)"])
        }
    }
}
