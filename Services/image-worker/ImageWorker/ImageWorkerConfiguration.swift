internal import EventBus
internal import FoundationEssentials
internal import ImageGenerators
internal import ServiceDefaults

/// The settings of the image worker.
///
/// - `IMAGE_GENERATOR` (`local` or `gemini`, default `local`): the generator.
/// - `IMAGE_CONCURRENCY` (1 to 64, default 4): jobs in progress at once; with `local` the processors are the limit.
/// - `IMAGE_MEMORY_MIB` (280 to 65,536, default 280): approximate memory of all pictures being processed.
/// - `TOPIC_PHOTO_LIFETIME_DAYS` (1 to 365, default 30): retention of topic photos; must equal identity-api's.
/// - `GEMINI_API_KEY` (required with `gemini`): the API key.
/// - `GEMINI_MODEL` (required with `gemini`): the name of an image model.
/// - `GEMINI_IMAGE_SIZE_MAX` (`1K`, `2K` or `4K`, default `1K`): the largest size requested of the model; with `1K` no size is sent.
/// - `GEMINI_BASE_URL` (URL, default Google's): the address of Gemini.
/// - `GEMINI_CA_FILE` (path, default the system's authorities): PEM file of the trusted authorities.
struct ImageWorkerConfiguration: Sendable {
    /// The service that makes the pictures.
    enum Generator: Sendable {
        case local
        case gemini(GeminiConfiguration)
    }

    /// Longer than the longest time to a job's deadline, so that the deadline ends the work and not this limit.
    private static let handlerTimeout: Duration = .seconds(65 * 60)
    /// Time to finish and store a picture after the call of the model.
    private static let finishingTime: Duration = .seconds(10)
    /// Time the service needs to stop after its last job has ended.
    private static let stoppingTime: Duration = .seconds(5)

    let generator: Generator
    /// The threads and memory for image processing.
    let threads: PictureThreads
    let consumer: EventConsumerConfiguration
    let photoLifetime: Duration

    /// The time limit of a graceful shutdown.
    var gracefulShutdownLimit: Duration { consumer.drainTimeout + Self.stoppingTime }

    init(_ settings: Settings) throws(ConfigurationError) {
        generator = try Self.generator(settings)
        let memory = PictureThreads.defaultMemory
        threads = PictureThreads(memory: try settings.int("IMAGE_MEMORY_MIB", default: memory >> 20, in: (memory >> 20)...65_536) << 20)
        photoLifetime = try settings.photoLifetime()
        var consumer = EventConsumerConfiguration()
        consumer.concurrency = try settings.int("IMAGE_CONCURRENCY", default: 4, in: 1...64)
        consumer.handlerTimeout = Self.handlerTimeout
        // The handler fails a job before the bus dead-letters its entry, so that the user is notified.
        consumer.retryPolicy.maxCrashes = ImageRequestedHandler.maxCrashes + 2
        // Waits for a running call: a cancelled call is paid for as well, and would be repeated.
        if case .gemini(let gemini) = generator { consumer.drainTimeout = gemini.timeout + Self.finishingTime }
        self.consumer = consumer
    }

    private static func generator(_ settings: Settings) throws(ConfigurationError) -> Generator {
        let expectation = "local or gemini"
        switch try settings.optionalString("IMAGE_GENERATOR", expectation) ?? "local" {
        case "local": return .local
        case "gemini":
            var configuration = GeminiConfiguration(
                apiKey: try settings.string("GEMINI_API_KEY", "a key of Google's AI Studio"),
                model: try settings.string("GEMINI_MODEL", "the name of an image model"))
            if let url = try settings.optionalString("GEMINI_BASE_URL", "the URL of Gemini") { configuration.baseURL = url }
            configuration.caFile = try caFile(settings)
            configuration.maxImageSize = try maxImageSize(settings)
            return .gemini(configuration)
        default: throw ConfigurationError("IMAGE_GENERATOR", "is not valid", expectation: expectation)
        }
    }

    private static func maxImageSize(_ settings: Settings) throws(ConfigurationError) -> GeminiConfiguration.ImageSize {
        let expectation = GeminiConfiguration.ImageSize.allCases.map(\.rawValue).joined(separator: " or ")
        guard let text = try settings.optionalString("GEMINI_IMAGE_SIZE_MAX", expectation) else { return .oneK }
        guard let size = GeminiConfiguration.ImageSize(rawValue: text) else {
            throw ConfigurationError("GEMINI_IMAGE_SIZE_MAX", "is not valid", expectation: expectation)
        }
        return size
    }

    private static func caFile(_ settings: Settings) throws(ConfigurationError) -> String? {
        let expectation = "the path of a PEM file of certificate authorities"
        guard let path = try settings.optionalString("GEMINI_CA_FILE", expectation) else { return nil }
        guard FileManager.default.isReadableFile(atPath: path) else {
            throw ConfigurationError("GEMINI_CA_FILE", "names a file that cannot be read", expectation: expectation)
        }
        return path
    }
}
