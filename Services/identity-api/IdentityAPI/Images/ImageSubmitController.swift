internal import BlobStore
internal import FoundationEssentials
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import Multipart
internal import NIOCore
internal import PostgresClient
internal import Storage
internal import WireFormat

/// Answers `POST /v1/images/process`.
struct ImageSubmitController: Sendable {
    /// The route in the request's ``IdempotencyScope``.
    private static let route = "POST /v1/images/process"

    let blobs: any BlobStore
    let postgres: PostgresClient
    let authenticator: any Authenticator
    let starter: ImageJobStarter
    let reader: ImageJobReader
    let jobs: RowWatcher<ImageJob>
    let slots: UploadSlots
    /// Limits the orders of one account.
    let limiter: RateLimiter<UUID>
    let limits: UploadLimits

    /// The result of reading an order.
    private struct Outcome {
        let userID: UUID
        let answer: IdempotencyAnswer
        let order: ImageOrder
        /// Whether the answer repeats an earlier one.
        let isReplay: Bool
    }

    func submit(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let identity = try await authenticator.identify(request)
        let key = try IdempotencyKey.read(request.headers)
        if !request.isJSON { _ = try formBoundary(of: request) }
        if let length = request.contentLength, length > limits.imageBodyBytes {
            throw APIError(.payloadTooLarge, "The body is larger than \(limits.imageBodyBytes / 1_048_576) MB")
        }
        if let wait = limiter.take(identity.userID) { throw APIError.rateLimited("Too many orders of this account", wait: wait) }
        let outcome = try await slots.withSlot(for: context.client) {
            try await takeIn(request, key, identity, context)
        }
        var response = try await answer(outcome, request, context)
        if outcome.isReplay { response.headers[.idempotentReplayed] = "true" }
        response.headers[.cacheControl] = "no-store"
        return response
    }

    private func takeIn(
        _ request: Request, _ key: String?, _ identity: Identity, _ context: APIRequestContext
    ) async throws -> Outcome {
        let scope = key.map { IdempotencyScope(userID: identity.userID, route: Self.route, key: $0) }
        let (answer, order, isReplay) = try await RepeatableRequest(scope: scope, postgres: postgres, logger: context.logger)
            .answer { lease in
                try await start(request, lease: lease, identity, context)
            } again: {
                let repetition = try await receive(request, storingAs: nil, lease: nil, context)
                return (repetition.fingerprint, repetition.order)
            }
        return Outcome(userID: identity.userID, answer: answer, order: order, isReplay: isReplay)
    }

    /// Stores an order and starts its job. A failed order leaves nothing behind, unless its outcome is unknown.
    private func start(
        _ request: Request, lease: RequestLease?, _ identity: Identity, _ context: APIRequestContext
    ) async throws -> (answer: IdempotencyAnswer, extra: ImageOrder) {
        let jobID = UUID()
        let prefix = try ImageBlobs.prefix(of: jobID)
        let inputKey = try ImageBlobs.input(of: jobID)
        do {
            let received = try await receive(request, storingAs: inputKey, lease: lease, context)
            let origin = ImageJobStarter.Origin(
                userID: identity.userID, requestID: context.requestID, traceparent: context.traceparent)
            let answer = try await starter.start(
                received, jobID: jobID, inputKey: inputKey, lease: lease?.lease, origin: origin)
            context.logger.info("image job started", metadata: ["job_id": "\(jobID.wireString)"])
            return (answer, received.order)
        } catch let error as OutcomeUnknown {
            throw error
        } catch {
            do { try await blobs.deleteAll(under: prefix) } catch {
                // image-worker's sweeper deletes it later, because no job refers to it.
                context.logger.error("the picture of a failed order is left", metadata: ["error": "\(error)"])
            }
            throw error
        }
    }

    private func receive(
        _ request: Request, storingAs key: BlobKey?, lease: RequestLease?, _ context: APIRequestContext
    ) async throws -> ReceivedImageOrder {
        let receiver = ImageOrderReceiver(limits: limits, destination: key.map { (blobs, $0) }) { try await lease?.renewIfDue() }
        context.askForBody()
        if request.isJSON {
            var body = JSONImageBody(request.body, limits: limits)
            return try await receiver.receive(&body)
        }
        var body = MultipartImageBody(request.body, boundary: try formBoundary(of: request), limits: limits)
        return try await receiver.receive(&body)
    }

    private func formBoundary(of request: Request) throws(APIError) -> MultipartBoundary {
        do throws(APIError) {
            return try request.multipartBoundary()
        } catch  where error.code == .unsupportedMediaType {
            throw APIError(
                .unsupportedMediaType, "The body must be application/json or multipart/form-data", underlying: error.underlying)
        }
    }

    /// Answers with the outcome if the client waits and the job ends in time; otherwise with the 202.
    private func answer(_ outcome: Outcome, _ request: Request, _ context: APIRequestContext) async throws -> Response {
        if let seconds = Self.patience(outcome.order, request) {
            do {
                if let response = try await picture(of: outcome, upTo: seconds, request, context) { return response }
            } catch  where !Task.isCancelled {
                // The job exists even if waiting fails: a refusal would make the client order again.
                context.logger.info(
                    "an order that waits gets its 202",
                    metadata: ["job_id": "\(outcome.answer.resourceID.wireString)", "error": "\(error)"])
            }
        }
        var response = Answer.kept(outcome.answer, isReplay: outcome.isReplay)
        response.headers[.location] = "/v1/images/jobs/\(outcome.answer.resourceID.wireString)"
        return response
    }

    /// Waits for the outcome of a job; nil when the job does not end in time.
    private func picture(
        of outcome: Outcome, upTo seconds: Int, _ request: Request, _ context: APIRequestContext
    ) async throws -> Response? {
        let job = try await jobs.wait(
            for: outcome.answer.resourceID, of: .account(outcome.userID), upTo: .seconds(seconds),
            whenClientHangsUp: context.whenClientHangsUp
        ) { $0.status.isTerminal }
        guard let job else { return nil }
        var response = try await reader.answer(job, .inline, .finished, context)
        if Preference.wait(request.headers) != nil { response.headers[.preferenceApplied] = "wait=\(seconds)" }
        return response
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

/// The keys of jobs' pictures in the blob store.
enum ImageBlobs {
    /// The prefix of all pictures of a job.
    static func prefix(of jobID: UUID) throws(BlobStoreError) -> BlobKey { try BlobKey("images/\(jobID.wireString)") }

    /// The picture as it was uploaded.
    static func input(of jobID: UUID) throws(BlobStoreError) -> BlobKey { try BlobKey("images/\(jobID.wireString)/input") }
}

extension ImageJobStatus {
    /// Whether the job has ended.
    var isTerminal: Bool { self == .completed || self == .failed }
}
