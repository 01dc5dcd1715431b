internal import Accounts
internal import EventBus
internal import FaceEngine
internal import Foundation
internal import Imaging
internal import Logging
public import ServiceDefaults
public import ServiceLifecycle

/// The service that decides sign-ups and sign-ins by their photos.
public enum FaceMatchingWorker: HeliographService {
    /// The deployed name, and the name of the consumer group.
    public static let name = "face-matching-worker"
    /// One line for `--help`.
    public static let summary = "Looks at the photos of a sign-up or sign-in and decides whose face it is."

    /// Builds the service: the engines, which check themselves first, and the consumer of `ekyc.requested`.
    ///
    /// - Throws: `ConfigurationError` when a setting or a model is missing or wrong, or pictures cannot be decoded in a sandbox;
    ///   `FaceEngineError` when an engine fails its self-check on this machine.
    public static func build(_ context: ServiceContext) async throws -> [any Service] {
        let configuration = try FaceMatchingConfiguration(context.settings)
        let blobs = try context.blobStore(.faces)
        let sealer = try context.sealer(.faces)
        let sessionKey = try context.settings.sessionKey()

        // Less than usual on top of the estimate: a sign-up has twelve photos, and strangers may send photos that defy the estimate.
        let decoder = ImageDecoder(
            sandbox: configuration.sandbox, logger: context.logger, executable: ImageDecoder.siblingExecutable,
            basicTime: .milliseconds(500))
        let pool = try await startPool(configuration, decoder: decoder)
        context.health.register("image-decoder") { try decoder.checkLastStart() }
        context.logger.info("face engines ready", metadata: ["threads": "\(configuration.threads)", "model": "\(FaceModels.modelID)"])
        if configuration.replayCheck == .files {
            context.logger.warning("changed copies of photos are accepted (FACE_REPLAY_CHECK=files): for load tests only")
        }
        FaceMatchingMetrics.start()
        let feed = FaceIndexFeed(postgres: context.postgres, sealer: sealer, logger: context.logger, clock: context.clock)
        let duplicates = DuplicateCheck(
            policy: configuration.duplicates, search: DuplicateSearch(feed: feed, postgres: context.postgres, sealer: sealer))
        let matcher = SessionMatcher(
            postgres: context.postgres, sealer: sealer, blobs: blobs, engines: pool, duplicates: duplicates,
            fingerprinter: PhotoFingerprinter(sessionKey: sessionKey, check: configuration.replayCheck), logger: context.logger,
            signIn: SignInDecision(threshold: configuration.threshold))
        let handler = EkycRequestedHandler(
            matcher: matcher, duplicates: duplicates, sealer: sealer, postgres: context.postgres, blobs: blobs,
            pseudonyms: SessionPseudonyms(sessionKey: sessionKey))
        let consumer = try context.consumer(
            configuration: configuration.consumer, handlers: [.handler(handler), context.erasing(with: FaceEraser())])
        // The engines run already: a shutdown before the schema is there has to end them as well.
        let engines = StartsWithoutSchema(EngineService(pool: pool))
        guard configuration.duplicates != .off else { return [engines, consumer] }
        let process = ProcessInfo.processInfo
        let faces = FaceIndexService(
            feed: feed, postgres: context.postgres, logger: context.logger, clock: context.clock,
            worker: "\(process.hostName):\(process.processIdentifier)")
        context.health.register("faces") { try faces.checkLoaded() }
        return [engines, faces, ConsumerAfterFaces(consumer: consumer, loaded: faces.loaded)]
    }

    private static func startPool(_ configuration: FaceMatchingConfiguration, decoder: ImageDecoder) async throws -> FaceEnginePool {
        do throws(FaceEngineError) {
            return try await FaceEnginePool.start(
                modelsDirectory: configuration.modelsPath, threads: configuration.threads, decoder: decoder)
        } catch {
            switch error.code {
            case .badModel:
                throw ConfigurationError(
                    "FACE_MODELS_PATH", "does not hold the models (\(error.message))",
                    expectation: Settings.faceModelsExpectation)
            case .noDecoder: throw ConfigurationError.imageSandbox(error.message)
            default: throw error
            }
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
