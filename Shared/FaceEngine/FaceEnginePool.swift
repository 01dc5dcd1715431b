public import Imaging

/// Runs face engines on dedicated threads, so that computations of tens of milliseconds never block the cooperative pool.
///
/// Jobs wait in queues of limited length. A job whose task is cancelled is removed from its queue; a job that is running finishes (it takes
/// some 20 ms). A thread interrupts the analysis of a photo between two steps for photos of higher precedence, so that these photos wait
/// for a step and not for a whole analysis. The decoding of a photo is one step, and may take seconds: photos of the precedence
/// `background` have a queue, threads and decoders of their own, which have a lower priority, so that others never wait for one of them.
public final class FaceEnginePool: Sendable {
    /// The precedence of a photo in the queue: before all photos of a lower one, however long those have waited, and among its equals in
    /// the order of arrival.
    public enum Precedence: Int, Sendable, Comparable {
        case background, ordinary, high

        /// Orders the precedences as they are declared: ``background`` is the least.
        public static func < (left: Precedence, right: Precedence) -> Bool { left.rawValue < right.rawValue }
    }

    private let ordinary: EngineQueue
    private let background: EngineQueue

    /// Starts the threads and returns once every engine is ready and the self-check has passed, which takes some 0.3 s.
    ///
    /// - Parameters:
    ///   - modelsDirectory: The directory of the three model files.
    ///   - threads: The number of photos that are analysed at once; more than the number of cores does not help. Half as many threads, and
    ///     one at least, are added for photos of the precedence `background`.
    ///   - decoder: Decodes the photos, each thread's in a process of its own.
    ///   - maxQueued: The maximum number of waiting jobs of a queue; more are refused with `overloaded`.
    /// - Throws: ``FaceEngineError`` with `badModel`, `selfCheckFailed` or `noDecoder`.
    public static func start(
        modelsDirectory: String, threads: Int, decoder: ImageDecoder, maxQueued: Int = 256
    ) async throws(FaceEngineError) -> FaceEnginePool {
        precondition(threads > 0 && maxQueued > 0, "a pool has a thread and room for work")
        let pool = FaceEnginePool(maxQueued: maxQueued)
        let ready: Result<Void, FaceEngineError> = await withCheckedContinuation { continuation in
            pool.ordinary.startThread { [pool] in
                do throws(FaceEngineError) {
                    try check(decoder)
                    let models = try FaceModels(directory: modelsDirectory)
                    let networks = try SelfCheck.fastestNetworks(models)
                    for _ in 1..<threads { pool.ordinary.startThread { FaceEngine(networks, decoder: decoder) } }
                    for _ in 0..<max(1, threads / 2) {
                        pool.background.startThread {
                            DecoderPriority.background.lowerThread()
                            return FaceEngine(networks, decoder: decoder)
                        }
                    }
                    continuation.resume(returning: .success(()))
                    return FaceEngine(networks, decoder: decoder)
                } catch {
                    continuation.resume(returning: .failure(error))
                    return nil
                }
            }
        }
        do {
            try ready.get()
        } catch {
            await pool.shutdown()
            throw error
        }
        return pool
    }

    private static func check(_ decoder: ImageDecoder) throws(FaceEngineError) {
        do throws(ImagingError) { try decoder.check() } catch { throw FaceEngineError(.noDecoder, error.message) }
    }

    private init(maxQueued: Int) {
        (ordinary, background) = (EngineQueue(maxQueued: maxQueued), EngineQueue(maxQueued: maxQueued))
    }

    /// Decodes and analyses a photo.
    ///
    /// - Throws: ``FaceEngineError`` with `failed`, `overloaded`, `closed` or `cancelled`. A bad photo is a result.
    public func analyse(
        _ photo: [UInt8], for purpose: PhotoPurpose, precedence: Precedence = .ordinary
    ) async throws(FaceEngineError) -> PhotoAnalysis {
        try await run(precedence: precedence) { engine throws(FaceEngineError) in try engine.analyse(photo, for: purpose) }
    }

    /// Decodes and analyses a photo, and computes the digest of its picture.
    ///
    /// - Returns: The result, and the time that the photo has occupied an engine for: without its time in the queue, and without the time
    ///   of photos that interrupted it.
    /// - Throws: The errors of ``analyse(_:for:precedence:)``.
    public func examine(
        _ photo: [UInt8], for purpose: PhotoPurpose, precedence: Precedence = .ordinary
    ) async throws(FaceEngineError) -> (photo: AnalysedPhoto, engineTime: Duration) {
        try await run(precedence: precedence) { engine throws(FaceEngineError) in
            try engine.timed { () throws(FaceEngineError) in
                try engine.examine(photo, for: purpose, decoding: precedence == .background ? .background : .ordinary)
            }
        }
    }

    /// Runs a job on an engine's thread.
    func run<Value: Sendable>(
        precedence: Precedence = .ordinary,
        _ body: @escaping @Sendable (FaceEngine) throws(FaceEngineError) -> Value
    ) async throws(FaceEngineError) -> Value {
        try await queue(of: precedence).run(precedence, body)
    }

    /// Refuses new jobs, abandons waiting ones, and returns when the threads have ended.
    public func shutdown() async {
        await ordinary.shutdown()
        await background.shutdown()
    }

    private func queue(of precedence: Precedence) -> EngineQueue { precedence == .background ? background : ordinary }

    /// The number of waiting jobs.
    var queuedCount: Int { ordinary.count + background.count }
}
