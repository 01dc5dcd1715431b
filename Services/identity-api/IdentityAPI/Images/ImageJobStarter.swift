internal import Accounts
internal import BlobStore
internal import EventBus
internal import FoundationEssentials
internal import JSON
internal import Logging
internal import Metrics
internal import Pictures
internal import PostgresClient
internal import Push
internal import ServiceDefaults
internal import WireFormat

/// Writes the job of a complete order in one transaction with the event that starts a worker and the answer for repetitions.
struct ImageJobStarter: Sendable {
    /// The estimated seconds of a job, until durations have been measured.
    static let usualSeconds = 15

    let postgres: PostgresClient
    let keys: AccountKeys
    /// See `IMAGE_JOB_DEADLINE_SECONDS`.
    let processingTime: Duration
    let admission: ImageJobAdmission

    /// The request of an order.
    struct Origin: Sendable {
        let userID: UUID
        var signInID: UUID?
        let requestID: String
        let traceparent: String?
    }

    /// Starts a job.
    ///
    /// - Returns: The answer, as stored for repetitions.
    /// - Throws: `template_not_found`; `rate_limited` when the user has too many open jobs, or had the paid calls of today;
    ///   `request_in_progress` when the lease had run out and another attempt has taken it; ``OutcomeUnknown`` when the commit was not
    ///   confirmed and the job is not found, or the database cannot be queried now.
    func start(
        _ received: ReceivedImageOrder, jobID: UUID, inputKey: BlobKey, lease: IdempotencyLease?, origin: Origin
    ) async throws -> IdempotencyAnswer {
        let order = received.order
        let templates = ImageTemplateRepository(postgres)
        guard let template = try await templates.find(id: order.templateID, publishedOnly: true) else { throw APIError.templateNotFound }
        let seconds = try await ImageJobRepository(postgres).medianSeconds(templateID: template.id) ?? Self.usualSeconds
        let answer = IdempotencyAnswer(
            fingerprint: received.fingerprint, resourceID: jobID, status: 202,
            body: Answer.data(AcceptedJob(id: jobID, seconds: seconds).json, origin.requestID).text)
        let new = NewImageJob(
            id: jobID, userID: origin.userID, estimatedCost: received.cost, templateID: template.id, width: order.width,
            height: order.height, quality: order.quality, inputKey: inputKey.name, requestID: origin.requestID,
            traceparent: origin.traceparent, processingTime: processingTime)
        do {
            try await postgres.write(confirming: { try await ImageJobRepository(postgres).find(id: jobID) != nil }) { transaction in
                if let lease, try await !IdempotencyRepository(transaction).complete(lease, with: answer) {
                    throw APIError.requestInProgress
                }
                let jobs = ImageJobRepository(transaction)
                let load = try await jobs.lockLoad(of: origin.userID)
                try admission.check(load, seconds: seconds)
                var new = new
                new.lane = admission.lane(load, adding: new.estimatedCost)
                new.awaitsTurn = admission.awaitsTurn(load)
                if let target = order.target { try await claim(target, for: origin, transaction) }
                let job = try await jobs.insert(new)
                guard !job.awaitsTurn else { return }
                try await OutboxRepository(transaction).request(job)
            }
        } catch let error as PostgresError where error.isIntegrityViolation {
            // An operator has deleted the template since it was read.
            guard try await templates.find(id: template.id, publishedOnly: true) != nil else { throw APIError.templateNotFound }
            throw error
        }
        Counter(label: "image_jobs_created_total", dimensions: [("template", template.id)]).increment()
        return answer
    }

    /// Claims the installation of an order's push token, unless it is the user's already: a token does not prove that its phone belongs
    /// to this user. The order is valid without.
    private func claim(_ target: PushTarget, for origin: Origin, _ transaction: PostgresTransaction) async throws {
        let registration = try keys.registration(of: target, seenAt: Date())
        guard try await PushInstallRepository(transaction).claim(registration, userID: origin.userID) == nil else { return }
        _ = try await PossessionCheck(keys: keys).claim(
            registration, for: origin.userID, signInID: origin.signInID,
            from: PossessionCheck.Origin(requestID: origin.requestID, traceparent: origin.traceparent), transaction)
    }
}
