internal import AsyncPrimitives
internal import BlobStore
internal import EventBus
internal import FoundationEssentials
internal import ImageGenerators
internal import Logging
internal import Pictures
internal import PostgresClient
internal import Tracing
internal import WireFormat

/// The picture that a generator returned for a job, unchecked.
struct RawPicture: Sendable {
    let attempt: Int
    let bytes: [UInt8]
    let modelUsed: String
    let durationMs: Int?
}

/// Calls the generator for a job, unless a picture that was paid for is already stored.
///
/// An attempt is a row that is committed before its call, and the picture is stored and recorded before it is processed
/// further. So a job whose worker died continues from the stored picture, and only a call that was in flight at that moment
/// may be repeated.
struct GeneratorCalls: Sendable {
    /// The wait before the first retry of storing a picture; doubles with each retry.
    private static let minStoreWait: Duration = .milliseconds(200)
    /// The upper limit of that wait.
    private static let maxStoreWait: Duration = .seconds(5)
    /// The wait before another call when the generator names none; doubles with each attempt.
    private static let minWait: Duration = .seconds(1)
    /// The upper limit of that wait.
    private static let maxWait: Duration = .seconds(60)

    let postgres: PostgresClient
    let generator: any ImageGenerator
    var limits = ImageAttemptLimits()
    /// The limits of a day, if the generator is paid.
    var callLimits = ImageCallLimits()

    /// Returns the picture that an earlier worker stored, or calls the generator for one.
    ///
    /// - Throws: ``JobFailure`` when the job must fail, ``JobCancelled`` when it was deleted or has ended,
    ///   `HandlerDeferral` when a later attempt may succeed; `CancellationError`, and the errors of the stores.
    func picture(_ request: GenerationRequest, for lease: JobLease, _ blobs: JobBlobs, _ logger: Logger) async throws -> RawPicture {
        let job = lease.job
        if let stored = try await storedPicture(of: job, blobs) {
            logger.info("stored picture of an earlier delivery used; generator not called", metadata: ["attempt": "\(stored.attempt)"])
            return stored
        }
        while true {
            try Task.checkCancellation()
            let number = try await beginAttempt(of: lease)
            let image: GeneratedImage
            do throws(GenerationError) {
                image = try await generate(request, attempt: number)
            } catch {
                ImageWorkerMetrics.called(generator.name, error.word, took: nil)
                logger.notice("generator call failed", metadata: ["attempt": "\(number)", "error": "\(error)"])
                try await record(outcome(of: error), number, job)
                if error.code != .noImage { throw jobError(for: error, attempt: number, job) }
                continue
            }
            ImageWorkerMetrics.called(generator.name, "generated", took: image.duration)
            return try await storePicture(image, number, job, blobs, logger)
        }
    }

    /// Calls the generator in its own tracing span, because most of a job's time is spent there.
    private func generate(_ request: GenerationRequest, attempt: Int) async throws(GenerationError) -> GeneratedImage {
        let result = await withSpan("generate picture", ofKind: .client) { span -> Result<GeneratedImage, GenerationError> in
            span.updateAttributes { attributes in
                attributes["heliograph.generator"] = generator.name
                attributes["heliograph.attempt"] = attempt
            }
            do throws(GenerationError) {
                return .success(try await generator.generate(request))
            } catch {
                span.recordError(error, attributes: ["heliograph.outcome": "\(error.word)"])
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// Records the attempt before its call, and returns its number.
    ///
    /// A lease that expired because this process was suspended is renewed if no other worker has claimed the job.
    private func beginAttempt(of lease: JobLease) async throws -> Int {
        if let number = try await countAttempt(of: lease) { return number }
        guard try await lease.renew(postgres) else { throw JobCancelled() }
        if let number = try await countAttempt(of: lease) { return number }
        if let failure = try await exhaustion(of: lease.job) { throw failure }
        throw HandlerDeferral(delay: Self.minWait, reason: "the job's lease was lost")
    }

    /// Records the attempt, and counts a paid one for its day; nil when it must not be made.
    ///
    /// - Throws: ``JobFailure`` when the paid calls of the day are used up.
    private func countAttempt(of lease: JobLease) async throws -> Int? {
        guard generator.isPaid else { return try await lease.beginAttempt(generator.name, limits, postgres) }
        return try await postgres.withTransaction { transaction in
            guard let number = try await lease.beginAttempt(generator.name, limits, transaction) else { return nil }
            switch try await ImageCallRepository(transaction).count(for: lease.job.userID, limits: callLimits) {
            case .admitted: return number
            case .userLimitReached: throw JobFailure(.unavailable, cause: "the account has had its paid calls of today")
            case .totalReached:
                throw JobFailure(.unavailable, cause: "all paid calls of today are made (IMAGE_CALLS_PER_DAY)")
            }
        }
    }

    /// Returns the newest stored picture; records it first if its worker died before recording it.
    private func storedPicture(of job: ImageJob, _ blobs: JobBlobs) async throws -> RawPicture? {
        let attempts = ImageAttemptRepository(postgres)
        for attempt in try await attempts.list(jobID: job.id).reversed() {
            var (model, durationMs): (String, Int?) = (attempt.generator, nil)
            switch attempt.outcome {
            case .generated(_, let modelUsed, let duration): (model, durationMs) = (modelUsed, duration)
            case nil: break
            case .refused, .noImage, .unclear, .free: continue
            }
            let key = try blobs.rawKey(attempt.number)
            guard let bytes = try await blobs.store.readIfPresent(key.name, limit: JobBlobs.maxRawBytes) else { continue }
            if attempt.outcome == nil {
                try await attempts.finish(
                    jobID: job.id, number: attempt.number,
                    outcome: .generated(rawKey: key.name, modelUsed: model, durationMs: nil))
            }
            return RawPicture(attempt: attempt.number, bytes: bytes, modelUsed: model, durationMs: durationMs)
        }
        return nil
    }

    /// Stores a picture and records it; a write that has begun completes even if this task is cancelled.
    ///
    /// Storing is retried until the job's deadline, because the picture has been paid for and another call would cost as much.
    private func storePicture(
        _ image: GeneratedImage, _ number: Int, _ job: ImageJob, _ blobs: JobBlobs, _ logger: Logger
    ) async throws -> RawPicture {
        let durationMs = Int(image.duration / .milliseconds(1))
        let (postgres, key) = (postgres, try blobs.rawKey(number))
        var wait = Self.minStoreWait
        while true {
            do {
                try await Task { try await blobs.store.write(image.bytes, to: key) }.value
                break
            } catch {
                logger.warning("storing a picture failed", metadata: ["attempt": "\(number)", "error": "\(error)"])
                guard wait < .seconds(job.deadlineAt.timeIntervalSinceNow) else {
                    throw JobFailure(.unavailable, cause: "the picture could not be stored before the job's deadline: \(error)")
                }
            }
            try await Task.sleep(for: wait)
            wait = min(wait * 2, Self.maxStoreWait)
        }
        return try await Task {
            try await ImageAttemptRepository(postgres).finish(
                jobID: job.id, number: number,
                outcome: .generated(rawKey: key.name, modelUsed: image.modelUsed, durationMs: durationMs))
            return RawPicture(attempt: number, bytes: image.bytes, modelUsed: image.modelUsed, durationMs: durationMs)
        }.value
    }

    /// Records the outcome of a call, even if this task is cancelled.
    private func record(_ outcome: ImageAttempt.Outcome, _ number: Int, _ job: ImageJob) async throws {
        let (postgres, isRefunded) = (postgres, generator.isPaid && outcome == .free)
        _ = try await Task {
            try await postgres.withTransaction { transaction in
                let isFirst = try await ImageAttemptRepository(transaction).finish(jobID: job.id, number: number, outcome: outcome)
                if isFirst, isRefunded { try await ImageCallRepository(transaction).takeBack(for: job.userID) }
            }
        }.value
    }

    private func outcome(of error: GenerationError) -> ImageAttempt.Outcome {
        switch error.code {
        case _ where error.isFree: .free
        case .contentBlocked, .badPicture: .refused
        case .noImage: .noImage
        case .rateLimited, .quotaExhausted, .invalidRequest, .unauthorised, .unavailable, .timeout, .cancelled: .unclear
        }
    }

    /// Converts a generator's error to the error that fails, defers or cancels the job.
    private func jobError(for error: GenerationError, attempt: Int, _ job: ImageJob) -> any Error {
        switch error.code {
        case .contentBlocked: return JobFailure(.contentBlocked, cause: "\(error)")
        case .timeout: return JobFailure(.timeout, cause: "\(error)")
        case .invalidRequest, .unauthorised, .badPicture: return JobFailure(.processingFailed, cause: "\(error)")
        case .cancelled: return CancellationError()
        case .noImage, .rateLimited, .quotaExhausted, .unavailable:
            let fallback = Backoff(min: Self.minWait, max: Self.maxWait, randomShare: 0).delay(afterFailures: attempt + 1)
            // Jittered, so that jobs which were refused together are not retried together.
            let wait = (error.retryAfter(now: Date()) ?? fallback) * Double.random(in: 1...1.2)
            guard wait < .seconds(job.deadlineAt.timeIntervalSinceNow) else {
                return JobFailure(.unavailable, cause: "the next call would come after the job's deadline: \(error)")
            }
            return HandlerDeferral(delay: wait, reason: error.word)
        }
    }

    /// Returns the failure of a job whose attempts are used up; `nil` when the limits allow another call.
    private func exhaustion(of job: ImageJob) async throws -> JobFailure? {
        let outcomes = try await ImageAttemptRepository(postgres).list(jobID: job.id).map(\.outcome)
        guard outcomes.count >= limits.maxAttempts || outcomes.count(where: { $0 != .free }) >= limits.maxPaidAttempts else { return nil }
        let code: ImageFailureCode = outcomes.last == .noImage ? .processingFailed : .unavailable
        return JobFailure(code, cause: "\(outcomes.count) calls of the generator were made; the limit is reached")
    }
}
