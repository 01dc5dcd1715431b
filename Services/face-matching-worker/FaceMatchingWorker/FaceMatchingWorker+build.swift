internal import EventBus
internal import FaceEngine
internal import Foundation
internal import Logging
public import ServiceDefaults
public import ServiceLifecycle
internal import Storage

/// The service that decides sign-ups and sign-ins by their photos.
///
/// ## Configuration keys
/// - `FACE_MODELS_PATH` (path, required): the folder with the two model files.
/// - `FACE_THRESHOLD` (number, 0.30 to 0.50, default 0.44): the greatest distance of a face from the account's.
/// - `FACE_ENGINE_THREADS` (1 to 64, default: the number of cores): the number of photos that are analysed at the same time.
/// - `CONSUMER_CONCURRENCY` (1 to 64, default: the number of engine threads): the number of sessions that are handled at the same
///   time.
/// - `BLOB_STORE` and its settings: the store in which identity-api puts the photos.
public enum FaceMatchingWorker: HeliographService {
    /// The deployed name, and the name of the consumer group.
    public static let name = "face-matching-worker"
    /// One line for `--help`.
    public static let summary = "Looks at the photos of a sign-up or sign-in and decides whose face it is."

    /// Builds the service: the engines, which check themselves first, and the consumer of `ekyc.requested`.
    ///
    /// - Throws: `ConfigurationError` when a setting or a model is missing or wrong; `FaceEngineError` when an engine fails its
    ///   self-check on this machine.
    public static func build(_ context: ServiceContext) async throws -> [any Service] {
        let settings = context.settings
        let models = try settings.string("FACE_MODELS_PATH", "the folder that deploy/local/fetch-models.sh fills")
        let thresholds = SignInDecision.thresholds
        let threshold = try settings.double(
            "FACE_THRESHOLD", default: Double(SignInDecision.standardThreshold),
            in: Double(thresholds.lowerBound)...Double(thresholds.upperBound))
        let cores = min(64, ProcessInfo.processInfo.activeProcessorCount)
        let threads = try settings.int("FACE_ENGINE_THREADS", default: cores, in: 1...64)
        var configuration = EventConsumerConfiguration()
        configuration.concurrency = try settings.int("CONSUMER_CONCURRENCY", default: threads, in: 1...64)
        let blobs = try context.blobStore()

        let pool = try await startPool(models: models, threads: threads)
        context.logger.info("face engines ready", metadata: ["threads": "\(threads)", "model": "\(FaceModels.modelID)"])
        let matcher = SessionMatcher(
            postgres: context.postgres, sealer: context.sealer, blobs: blobs, engines: pool, logger: context.logger,
            signIn: SignInDecision(threshold: Float(threshold)))
        let handler = EkycRequestedHandler(
            matcher: matcher, sealer: context.sealer, postgres: context.postgres, blobs: blobs,
            pseudonyms: SessionPseudonyms(lookupKey: context.lookupKey))
        let consumer = try context.consumer(configuration: configuration, handlers: [.handler(handler)])
        return [EngineService(pool: pool), consumer]
    }

    private static func startPool(models: String, threads: Int) async throws -> FaceEnginePool {
        do throws(FaceEngineError) {
            return try await FaceEnginePool.start(modelsDirectory: models, threads: threads)
        } catch {
            guard error.code == .badModel else { throw error }
            throw ConfigurationError(
                "FACE_MODELS_PATH", "does not hold the models (\(error.message))",
                expectation: "the folder that deploy/local/fetch-models.sh fills")
        }
    }
}

/// Shuts the engines down after all services that use them have ended.
private struct EngineService: Service {
    let pool: FaceEnginePool

    func run() async throws {
        try? await gracefulShutdown()
        await pool.shutdown()
    }
}
