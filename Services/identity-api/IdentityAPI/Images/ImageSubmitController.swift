internal import Accounts
internal import BlobStore
internal import FoundationEssentials
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import Multipart
internal import Pictures
internal import WireFormat

/// Answers `POST /v1/images/process`.
struct ImageSubmitController: Sendable {
    /// The route in the request's ``IdempotencyScope``.
    private static let route = "POST /v1/images/process"
    /// The fields of a form.
    private static let formFields = MultipartBody.Fields(
        pictures: ["image"], texts: ImageOrderFields.names, json: [ImageOrderFields.options])

    let uploads: UploadPipeline
    let authenticator: any Authenticator
    let starter: ImageJobStarter
    let reader: ImageJobReader
    let jobs: RowWatcher<ImageJob>
    /// Limits the orders of one account.
    let limiter: RateLimiter<UUID>
    let limits: UploadLimits

    func submit(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let identity = try await authenticator.identify(request)
        let key = try IdempotencyKey.read(request.headers)
        let boundary = request.isJSON ? nil : try formBoundary(of: request)
        try request.checkContentLength(upTo: limits.imageBodyBytes)
        try limiter.admit(identity.userID, context.limits, or: "Too many orders of this account")
        let scope = key.map { IdempotencyScope(userID: identity.userID, route: Self.route, key: $0) }
        let origin = ImageJobStarter.Origin(
            userID: identity.userID, signInID: identity.signInID, requestID: context.requestID, traceparent: context.traceparent)
        let jobID = UUID()
        let inputKey = try BlobFolder.imageJobs.key("input", of: jobID)
        let (answer, order, isReplay) = try await uploads.run(
            storingUnder: BlobFolder.imageJobs.prefix(of: jobID), scope: scope, limits: limits.picture, context
        ) { attempt, receiver in
            let received = try await receive(request, boundary, storingAs: attempt.isRepetition ? nil : inputKey, with: receiver)
            let answer = try await attempt.answer(to: received.fingerprint) { lease in
                try await starter.start(received, jobID: jobID, inputKey: inputKey, lease: lease, origin: origin)
            }
            return (answer, received.order, attempt.isRepetition)
        }
        if !isReplay { context.logger.info("image job started", metadata: ["job_id": "\(jobID.wireString)"]) }
        var response =
            try await picture(of: answer.resourceID, for: identity, order, request, context) ?? accepted(answer, isReplay: isReplay)
        if isReplay { response.headers[.idempotentReplayed] = "true" }
        response.headers[.cacheControl] = "no-store"
        return response
    }

    private func formBoundary(of request: Request) throws(APIError) -> MultipartBoundary {
        do throws(APIError) {
            return try request.multipartBoundary()
        } catch  where error.code == .unsupportedMediaType {
            throw APIError(
                .unsupportedMediaType, "The body must be application/json or multipart/form-data", underlying: error.underlying)
        }
    }

    /// Reads an order in one of its two formats; JSON is the one without a boundary.
    private func receive(
        _ request: Request, _ boundary: MultipartBoundary?, storingAs key: BlobKey?,
        with receiver: PictureReceiver
    ) async throws -> ReceivedImageOrder {
        guard let boundary else {
            var body = JSONImageBody(request.body, limits: limits)
            return try await ReceivedImageOrder(
                reading: &body, pictureField: JSONImageBody.pictureField, storingAs: key, with: receiver)
        }
        var body = MultipartBody(
            request.body, boundary: boundary, fields: Self.formFields, maxBytes: limits.imageBodyBytes, limits: limits)
        return try await ReceivedImageOrder(reading: &body, pictureField: "image", storingAs: key, with: receiver)
    }

    private func accepted(_ answer: IdempotencyAnswer, isReplay: Bool) -> Response {
        var response = Answer.kept(answer, isReplay: isReplay)
        response.headers[.location] = "/v1/images/jobs/\(answer.resourceID.wireString)"
        return response
    }

    /// Waits for the outcome of a job; nil when the client does not wait, or the job does not end in time.
    private func picture(
        of jobID: UUID, for identity: Identity, _ order: ImageOrder, _ request: Request, _ context: APIRequestContext
    ) async throws -> Response? {
        guard let seconds = Self.patience(order, request) else { return nil }
        do {
            let job = try await jobs.wait(
                for: jobID, of: .account(identity.userID), while: try SignInWatch(authenticator, request, of: identity.userID),
                upTo: .seconds(seconds), whenClientHangsUp: context.whenClientHangsUp
            ) { $0.status.isTerminal }
            guard let job else { return nil }
            var response = try await reader.answer(job, .inline, .finished, context)
            if Preference.wait(request.headers) != nil { response.headers[.preferenceApplied] = "wait=\(seconds)" }
            return response
        } catch  where !Task.isCancelled {
            // The job exists even if waiting fails: a refusal would make the client order again.
            context.logger.info("an order that waits gets its 202", metadata: ["job_id": "\(jobID.wireString)", "error": "\(error)"])
            return nil
        }
    }

    /// The seconds that the client is ready to wait for its picture; nil when it does not wait.
    private static func patience(_ order: ImageOrder, _ request: Request) -> Int? {
        let preferred = Preference.wait(request.headers)
        switch order.isAsync {
        case true?: return nil
        case false?: return min(preferred ?? Request.maxWaitSeconds, Request.maxWaitSeconds)
        case nil: return preferred.map { min($0, Request.maxWaitSeconds) }
        }
    }
}

extension ImageJobStatus {
    /// Whether the job has ended.
    var isTerminal: Bool { self == .completed || self == .failed }
}
