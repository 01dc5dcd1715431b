internal import BlobStore
internal import EventBus
internal import FoundationEssentials
internal import ImageGenerators
internal import Logging
internal import PostgresClient
internal import Storage
internal import Tracing
internal import WireFormat

/// What a generator gave for a job.
struct RawPicture: Sendable {
    let attempt: Int
    let bytes: [UInt8]
    let modelUsed: String
    let durationMs: Int?
}

/// Calls a generator for a job, or does not, because it has been paid already.
///
/// An attempt is a row that is committed before its call, and the picture is stored and noted before anything else is done
/// with it. So a job whose worker died goes on from the picture that is there, and only a call that was under way just then
/// may be made once more.
struct GeneratorCalls: Sendable {
    /// The wait before storing a picture is tried again; doubles with each try.
    private static let storeWaitMin: Duration = .milliseconds(200)
    /// The longest such wait.
    private static let storeWaitMax: Duration = .seconds(5)
    /// The wait before another call when nobody says how long; doubles with each attempt.
    private static let waitMin: Duration = .seconds(1)
    /// The longest such wait.
    private static let waitMax: Duration = .seconds(60)

    let postgres: PostgresClient
    let generator: any ImageGenerator
    var limits = ImageAttemptLimits()

    /// Returns the picture an earlier worker left, or has one made.
    ///
    /// - Throws: ``JobFailure`` when there will be none, ``JobUnwanted`` when nobody wants it any more,
    ///   `HandlerPostponement` when it is worth trying later; cancellation, and what the stores throw.
    func picture(_ request: GenerationRequest, for hold: JobHold, _ blobs: JobBlobs, _ logger: Logger) async throws -> RawPicture {
        let job = hold.job
        if let stored = try await storedPicture(of: job, blobs) {
            logger.info("picture of an earlier delivery found; no call is made", metadata: ["attempt": "\(stored.attempt)"])
            return stored
        }
        while true {
            try Task.checkCancellation()
            let number = try await beginAttempt(of: hold)
            let image: GeneratedImage
            do throws(GenerationError) {
                image = try await generate(request, attempt: number)
            } catch {
                ImageWorkerMetrics.called(generator.name, error.word, took: nil)
                logger.notice("a generator made no picture", metadata: ["attempt": "\(number)", "error": "\(error)"])
                try await note(outcome(of: error), number, job)
                if error.code != .noImage { throw consequence(of: error, attempt: number, job) }
                continue
            }
            ImageWorkerMetrics.called(generator.name, "generated", took: image.duration)
            return try await keep(image, number, job, blobs, logger)
        }
    }

    /// Calls the generator, as a span of its own: it is what a job's time is spent on.
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

    /// Notes that the generator is about to be called.
    ///
    /// A lease that merely ran out, because this process stood still for a while, is taken up again.
    private func beginAttempt(of hold: JobHold) async throws -> Int {
        if let number = try await hold.beginAttempt(generator.name, limits, postgres) { return number }
        guard try await hold.keep(postgres) else { throw JobUnwanted() }
        if let number = try await hold.beginAttempt(generator.name, limits, postgres) { return number }
        if let failure = try await exhaustion(of: hold.job) { throw failure }
        throw HandlerPostponement(delay: Self.waitMin, reason: "the lease of the job does not hold")
    }

    /// Returns the newest picture that is stored, noting it when its worker died before it could.
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
            guard let bytes = try await blobs.readIfPresent(key, limit: JobBlobs.rawBytesMax) else { continue }
            if attempt.outcome == nil {
                try await attempts.finish(
                    jobID: job.id, number: attempt.number,
                    outcome: .generated(rawKey: key.name, modelUsed: model, durationMs: nil))
            }
            return RawPicture(attempt: attempt.number, bytes: bytes, modelUsed: model, durationMs: durationMs)
        }
        return nil
    }

    /// Stores a picture and notes it; what is begun of that is ended, whether or not somebody cancels meanwhile.
    ///
    /// It has been paid for, so a store that is away is waited for until the deadline; another call would cost as much again.
    private func keep(
        _ image: GeneratedImage, _ number: Int, _ job: ImageJob, _ blobs: JobBlobs, _ logger: Logger
    ) async throws -> RawPicture {
        let durationMs = Int(image.duration / .milliseconds(1))
        let (postgres, key) = (postgres, try blobs.rawKey(number))
        var wait = Self.storeWaitMin
        while true {
            do {
                try await Task { try await blobs.writeRaw(image.bytes, of: number) }.value
                break
            } catch {
                logger.warning("a picture cannot be stored", metadata: ["attempt": "\(number)", "error": "\(error)"])
                guard wait < .seconds(job.deadlineAt.timeIntervalSinceNow) else {
                    throw JobFailure(.unavailable, cause: "the picture could not be stored before the job's deadline: \(error)")
                }
            }
            try await Task.sleep(for: wait)
            wait = min(wait * 2, Self.storeWaitMax)
        }
        return try await Task {
            try await ImageAttemptRepository(postgres).finish(
                jobID: job.id, number: number,
                outcome: .generated(rawKey: key.name, modelUsed: image.modelUsed, durationMs: durationMs))
            return RawPicture(attempt: number, bytes: image.bytes, modelUsed: image.modelUsed, durationMs: durationMs)
        }.value
    }

    /// Notes how a call ended, whether or not somebody cancelled it.
    private func note(_ outcome: ImageAttempt.Outcome, _ number: Int, _ job: ImageJob) async throws {
        let postgres = postgres
        _ = try await Task {
            try await ImageAttemptRepository(postgres).finish(jobID: job.id, number: number, outcome: outcome)
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

    /// What a call without a picture means for the job.
    private func consequence(of error: GenerationError, attempt: Int, _ job: ImageJob) -> any Error {
        switch error.code {
        case .contentBlocked: return JobFailure(.contentBlocked, cause: "\(error)")
        case .timeout: return JobFailure(.timeout, cause: "\(error)")
        case .invalidRequest, .unauthorised, .badPicture: return JobFailure(.processingFailed, cause: "\(error)")
        case .cancelled: return CancellationError()
        case .noImage, .rateLimited, .quotaExhausted, .unavailable:
            let fallback = min(Self.waitMin * (1 << min(attempt, 10)), Self.waitMax)
            // Spread, so that jobs which were turned away together do not come back together.
            let wait = (error.retryAfter(now: Date()) ?? fallback) * Double.random(in: 1...1.2)
            guard wait < .seconds(job.deadlineAt.timeIntervalSinceNow) else {
                return JobFailure(.unavailable, cause: "the next call would come after the job's deadline: \(error)")
            }
            return HandlerPostponement(delay: wait, reason: error.word)
        }
    }

    /// Why no further call is made; `nil` when the limits allow one.
    private func exhaustion(of job: ImageJob) async throws -> JobFailure? {
        let outcomes = try await ImageAttemptRepository(postgres).list(jobID: job.id).map(\.outcome)
        guard outcomes.count >= limits.totalMax || outcomes.count(where: { $0 != .free }) >= limits.paidMax else { return nil }
        let code: ImageFailureCode = outcomes.last == .noImage ? .processingFailed : .unavailable
        return JobFailure(code, cause: "\(outcomes.count) calls of the generator were made, and no more are allowed")
    }
}
