public import Imaging
internal import Synchronization

/// Makes pictures with image filters on this machine, without a model or a key. The result is the same on every machine.
public struct LocalGenerator: ImageGenerator {
    /// Always `local`.
    public let name = "local"
    /// Always false.
    public let isPaid = false
    private let pipeline: ImagePipeline
    private let threads: PictureThreads

    /// Creates a generator.
    ///
    /// - Parameters:
    ///   - pipeline: Applies the styles.
    ///   - threads: The threads that process the pictures, one picture per thread.
    public init(pipeline: ImagePipeline, threads: PictureThreads = .shared) {
        self.pipeline = pipeline
        self.threads = threads
    }

    /// See ``ImageGenerator/generate(_:)``. The work itself stops within milliseconds of a cancellation or the deadline.
    public func generate(_ request: GenerationRequest) async throws(GenerationError) -> GeneratedImage {
        let stop = StopFlag(deadline: request.deadline)
        let start = ContinuousClock.now
        request.progress(5)
        let outcome: Result<EncodedPicture, GenerationError> = await withTaskCancellationHandler {
            do {
                let share: @Sendable () -> Int = {
                    PictureMemory.stylising(
                        request.picture, width: request.width, height: request.height, quality: request.quality)
                }
                return .success(
                    try await threads.run(taking: share, until: request.deadline) { [pipeline] in
                        try Self.stylise(request, pipeline, until: stop)
                    })
            } catch {
                return .failure(Self.generationError(for: error, stop))
            }
        } onCancel: {
            stop.cancel()
        }
        let picture = try outcome.get()
        request.progress(95)
        return GeneratedImage(bytes: picture.bytes, modelUsed: name, duration: .now - start)
    }

    private static func stylise(
        _ request: GenerationRequest, _ pipeline: ImagePipeline, until stop: StopFlag
    ) throws -> EncodedPicture {
        // The job may have been cancelled, or its deadline passed, while it waited for a thread.
        if stop.isSet { throw CancellationError() }
        request.progress(10)
        return try pipeline.stylise(
            request.picture.bytes, style: request.template.style, width: request.width, height: request.height,
            quality: request.quality, isCancelled: { stop.isSet })
    }

    private static func generationError(for error: any Error, _ stop: StopFlag) -> GenerationError {
        if stop.isCancelled || Task.isCancelled { return GenerationError(.cancelled, "the task was cancelled", isFree: true) }
        if stop.isSet { return GenerationError(.timeout, "the deadline has passed", isFree: true) }
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

/// Tells the processing thread to stop, after a cancellation or at the deadline.
private final class StopFlag: Sendable {
    private let deadline: ContinuousClock.Instant
    private let cancelled = Atomic(false)

    init(deadline: ContinuousClock.Instant) { self.deadline = deadline }

    var isCancelled: Bool { cancelled.load(ordering: .relaxed) }
    var isSet: Bool { isCancelled || ContinuousClock.now >= deadline }

    func cancel() { cancelled.store(true, ordering: .relaxed) }
}
