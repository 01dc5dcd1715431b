internal import Accounts
internal import BlobStore
internal import FoundationEssentials
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import Pictures
internal import WireFormat

/// Answers `POST /v1/images/process`.
struct ImageSubmitController: Sendable {
    /// The route in the request's ``IdempotencyScope``.
    private static let route = "POST /v1/images/process"

    let uploads: UploadPipeline
    let starter: ImageJobStarter
    let reader: ImageJobReader
    let jobs: RowWatcher<ImageJob>
    let limits: UploadLimits

    func submit(_ call: APICall<WatchedUser, (String?, PreferredWait), OrderBody>) async throws -> Response {
        let (identity, context) = (call.sender.identity, call.context)
        let (key, preferred) = call.target
        let scope = key.map { IdempotencyScope(userID: identity.userID, route: Self.route, key: $0) }
        let origin = ImageJobStarter.Origin(
            userID: identity.userID, signInID: identity.signInID, requestID: context.requestID, traceparent: context.traceparent)
        let jobID = UUID()
        let inputKey = try BlobFolder.imageJobs.key("input", of: jobID)
        let (answer, order, isReplay) = try await uploads.run(
            storingUnder: BlobFolder.imageJobs.prefix(of: jobID), scope: scope, limits: limits.picture, context
        ) { attempt, receiver in
            let received = try await call.body.receive(storingAs: attempt.isRepetition ? nil : inputKey, with: receiver, limits)
            let answer = try await attempt.answer(to: received.fingerprint) { lease in
                try await starter.start(received, jobID: jobID, inputKey: inputKey, lease: lease, origin: origin)
            }
            return (answer, received.order, attempt.isRepetition)
        }
        if !isReplay { context.logger.info("image job started", metadata: ["job_id": "\(jobID.wireString)"]) }
        var response =
            try await picture(of: answer.resourceID, for: call.sender, order, preferred, context) ?? accepted(answer, isReplay: isReplay)
        if isReplay { response.headers[.idempotentReplayed] = "true" }
        response.headers[.cacheControl] = "no-store"
        return response
    }

    private func accepted(_ answer: IdempotencyAnswer, isReplay: Bool) -> Response {
        var response = Answer.kept(answer, isReplay: isReplay)
        response.headers[.location] = "/v1/images/jobs/\(answer.resourceID.wireString)"
        return response
    }

    /// Waits for the outcome of a job; nil when the client does not wait, or the job does not end in time.
    private func picture(
        of jobID: UUID, for sender: WatchedUser, _ order: ImageOrder, _ preferred: PreferredWait, _ context: APIRequestContext
    ) async throws -> Response? {
        guard let seconds = Self.patience(order, preferred) else { return nil }
        do {
            let job = try await jobs.wait(
                for: jobID, of: .account(sender.identity.userID), while: sender.signIn, upTo: .seconds(seconds),
                whenClientHangsUp: context.whenClientHangsUp
            ) { $0.status.isTerminal }
            guard let job else { return nil }
            var response = try await reader.answer(job, .inline, .finished, context)
            if preferred.seconds != nil { response.headers[.preferenceApplied] = "wait=\(seconds)" }
            return response
        } catch  where !Task.isCancelled {
            // The job exists even if waiting fails: a refusal would make the client order again.
            context.logger.info("an order that waits gets its 202", metadata: ["job_id": "\(jobID.wireString)", "error": "\(error)"])
            return nil
        }
    }

    /// The seconds that the client is ready to wait for its picture; nil when it does not wait.
    private static func patience(_ order: ImageOrder, _ preferred: PreferredWait) -> Int? {
        switch order.isAsync {
        case true?: nil
        case false?: min(preferred.seconds ?? Request.maxWaitSeconds, Request.maxWaitSeconds)
        case nil: preferred.seconds.map { min($0, Request.maxWaitSeconds) }
        }
    }
}

extension ImageJobStatus {
    /// Whether the job has ended.
    var isTerminal: Bool { self == .completed || self == .failed }
}
