internal import Accounts
internal import EventBus
internal import HTTPClient
package import ImageGenerators
internal import Imaging
internal import Logging
public import ServiceDefaults
public import ServiceLifecycle

/// The service that makes pictures: consumes `image.requested`, publishes `image.progress`, `image.completed` and the push;
/// consumes `photo.uploaded`, and publishes the push about the new photos of a topic.
public enum ImageWorker: HeliographService {
    /// The deployed name, and the name of the consumer group.
    public static let name = "image-worker"
    /// One line for `--help`.
    public static let summary = "Makes pictures with AI and tells their owners."

    /// Longer than the longest call of the generator: 25 s with `local`, 195 s with `gemini`.
    public static func gracefulShutdownLimit(_ settings: Settings) throws(ConfigurationError) -> Duration {
        try ImageWorkerConfiguration(settings).gracefulShutdownLimit
    }

    /// Builds the service: the generator, the consumer, the pushes about photos, and the sweeper.
    ///
    /// - Throws: `ConfigurationError` for a setting that is missing or invalid, or when pictures cannot be decoded in a sandbox.
    public static func build(_ context: ServiceContext) async throws -> [any Service] {
        let configuration = try ImageWorkerConfiguration(context.settings)
        let pipeline = try await pipeline(context, configuration)
        switch configuration.generator {
        case .local:
            return try services(context, configuration, pipeline) { LocalGenerator(pipeline: pipeline, threads: $0) }
        case .gemini(let gemini):
            let http = HTTPClient(configuration: gemini.httpClient, logger: context.logger)
            let generator = try makeGemini(gemini, http: http, logger: context.logger)
            return [http] + (try services(context, configuration, pipeline) { _ in generator })
        }
    }

    /// Builds the service around a generator.
    package static func services(_ context: ServiceContext, generator: any ImageGenerator) async throws -> [any Service] {
        let configuration = try ImageWorkerConfiguration(context.settings)
        return try services(context, configuration, try await pipeline(context, configuration)) { _ in generator }
    }

    /// Starts the first process for decoding, on a thread that may block.
    private static func pipeline(_ context: ServiceContext, _ configuration: ImageWorkerConfiguration) async throws -> ImagePipeline {
        let decoder = ImageDecoder(sandbox: configuration.sandbox, logger: context.logger)
        do {
            try await configuration.threads.run(taking: { 0 }) { try decoder.check() }
        } catch let error as ImagingError {
            throw ConfigurationError.imageSandbox(error.message)
        }
        context.health.register("image-decoder") { try decoder.checkLastStart() }
        return ImagePipeline(decoder: decoder)
    }

    private static func services(
        _ context: ServiceContext, _ configuration: ImageWorkerConfiguration, _ pipeline: ImagePipeline,
        generator makeGenerator: (PictureThreads) -> any ImageGenerator
    ) throws -> [any Service] {
        let (postgres, logger) = (context.postgres, context.logger)
        let store = try context.blobStore(.pictures)
        let cleanup = JobCleanup(postgres: postgres, store: store)
        let generator = makeGenerator(configuration.threads)
        func maker(_ generator: any ImageGenerator, _ threads: PictureThreads) -> PictureMaker {
            let calls = GeneratorCalls(postgres: postgres, generator: generator, callLimits: configuration.callLimits)
            return PictureMaker(postgres: postgres, store: store, calls: calls, pipeline: pipeline, threads: threads)
        }
        let bulkThreads = configuration.threads.leavingHalf()
        let runner = JobRunner(
            postgres: postgres, maker: maker(generator, configuration.threads), bulkMaker: maker(makeGenerator(bulkThreads), bulkThreads))
        let handler = ImageRequestedHandler(postgres: postgres, runner: runner, cleanup: cleanup)
        // One account may upload many large photos at once, which must not take all threads from the jobs of others.
        let photos = PhotoUploadedHandler(postgres: postgres, store: store, pipeline: pipeline, threads: bulkThreads)
        let consumer = try context.consumer(
            configuration: configuration.consumer,
            handlers: [.handler(handler), .handler(photos), context.erasing(with: PictureEraser(store: store))])
        logger.info("pictures are made", metadata: ["generator": "\(generator.name)"])
        let sweeper = sweeper(
            postgres: postgres, store: store, cleanup: cleanup, turns: JobTurns(postgres: postgres, places: configuration.placesPerUser),
            paidCalls: generator.isPaid ? configuration.callLimits : nil, photoLifetime: configuration.photoLifetime, logger: logger,
            clock: context.clock)
        return [consumer, PhotoPushes(postgres: postgres, logger: logger), sweeper]
    }

    private static func makeGemini(
        _ configuration: GeminiConfiguration, http: HTTPClient, logger: Logger
    ) throws -> GeminiGenerator {
        do throws(GenerationError) {
            return try GeminiGenerator(configuration: configuration, http: http, logger: logger)
        } catch {
            throw ConfigurationError(
                "GEMINI_API_KEY, GEMINI_MODEL or GEMINI_BASE_URL", "cannot be used (\(error.message))",
                expectation: "a key, a model's name, and an https:// URL; http:// is accepted for this machine only")
        }
    }
}
