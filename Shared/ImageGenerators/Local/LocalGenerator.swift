internal import Imaging
internal import Synchronization

/// Makes pictures on this machine, with no model and no key: deterministic, and the same on every machine.
public struct LocalGenerator: ImageGenerator {
    /// Always `local`.
    public let name = "local"
    private let threads: PictureThreads

    /// Makes a generator.
    ///
    /// - Parameter threads: do the work, one picture a thread.
    public init(threads: PictureThreads = .shared) {
        self.threads = threads
    }

    /// See ``ImageGenerator/generate(_:)``. The work itself stops within milliseconds of a cancellation or the deadline.
    public func generate(_ request: GenerationRequest) async throws(GenerationError) -> GeneratedImage {
        let stop = StopSign(deadline: request.deadline)
        let start = ContinuousClock.now
        request.progress(5)
        let outcome: Result<EncodedPicture, GenerationError> = await withTaskCancellationHandler {
            do {
                let share: @Sendable () -> Int = {
                    PictureMemory.stylising(
                        request.picture, width: request.width, height: request.height, quality: request.quality)
                }
                return .success(
                    try await threads.run(taking: share, until: request.deadline) { try Self.stylise(request, until: stop) })
            } catch {
                return .failure(Self.meaning(of: error, stop))
            }
        } onCancel: {
            stop.cancel()
        }
        let picture = try outcome.get()
        request.progress(95)
        return GeneratedImage(bytes: picture.bytes, modelUsed: name, duration: .now - start)
    }

    private static func stylise(_ request: GenerationRequest, until stop: StopSign) throws -> EncodedPicture {
        // A picture may have waited for its thread until nobody wanted it any more.
        if stop.isSet { throw CancellationError() }
        request.progress(10)
        return try PictureWorkshop.stylise(
            request.picture.bytes, style: request.template.style, width: request.width, height: request.height,
            quality: request.quality, isCancelled: { stop.isSet })
    }

    private static func meaning(of error: any Error, _ stop: StopSign) -> GenerationError {
        if stop.isCancelled || Task.isCancelled { return GenerationError(.cancelled, "the task was cancelled", isFree: true) }
        if stop.isSet { return GenerationError(.timeout, "the deadline is over", isFree: true) }
        guard let error = error as? ImagingError else {
            return GenerationError(.unavailable(retryAfter: nil), "the thread pool is shut down", isFree: true, underlying: error)
        }
        switch error.code {
        case .unavailable: return GenerationError(.unavailable(retryAfter: nil), "no style was applied", isFree: true, underlying: error)
        case .invalidSize: return GenerationError(.invalidRequest, "no style was applied", isFree: true, underlying: error)
        default: return GenerationError(.badPicture, "no style was applied", isFree: true, underlying: error)
        }
    }
}

/// Tells a thread that computes to stop: because somebody said so, or because it is too late.
private final class StopSign: Sendable {
    private let deadline: ContinuousClock.Instant
    private let cancelled = Atomic(false)

    init(deadline: ContinuousClock.Instant) { self.deadline = deadline }

    var isCancelled: Bool { cancelled.load(ordering: .relaxed) }
    var isSet: Bool { isCancelled || ContinuousClock.now >= deadline }

    func cancel() { cancelled.store(true, ordering: .relaxed) }
}
