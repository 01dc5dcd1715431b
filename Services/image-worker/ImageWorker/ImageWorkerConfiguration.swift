internal import EventBus
internal import FoundationEssentials
internal import ImageGenerators
internal import ServiceDefaults

/// The settings of the image worker.
///
/// - `IMAGE_GENERATOR` (`local` or `gemini`, default `local`): who makes the pictures.
/// - `IMAGE_CONCURRENCY` (1 to 64, default 4): how many jobs are worked on at once; with `local` the processors are the limit.
/// - `IMAGE_MEMORY_MIB` (280 to 65,536, default 280): what the pictures that are in work take together, at least nearly.
/// - `TOPIC_PHOTO_LIFETIME_DAYS` (1 to 365, default 30): how long photos of topics are kept; identity-api's is the same.
/// - `GEMINI_API_KEY` (with `gemini` required): the key.
/// - `GEMINI_MODEL` (with `gemini` required): the name of an image model.
/// - `GEMINI_IMAGE_SIZE_MAX` (`1K`, `2K` or `4K`, default `1K`): the largest size the model is asked for; with `1K` it is not.
/// - `GEMINI_BASE_URL` (URL, default Google's): where Gemini is.
/// - `GEMINI_CA_FILE` (path, default the system's authorities): whom to trust instead.
struct ImageWorkerConfiguration: Sendable {
    /// Who makes the pictures.
    enum Generator: Sendable {
        case local
        case gemini(GeminiConfiguration)
    }

    /// The longest a job's deadline can be away, and then some: the deadline is what ends its work.
    private static let handlerTimeout: Duration = .seconds(65 * 60)
    /// What a job may need to end beyond its call of a model: its picture is finished and stored.
    private static let finishingTime: Duration = .seconds(10)
    /// What the service needs to stop beyond the end of its jobs.
    private static let stoppingTime: Duration = .seconds(5)

    let generator: Generator
    /// Where pictures are computed.
    let threads: PictureThreads
    let consumer: EventConsumerConfiguration
    let photoLifetime: Duration

    /// How long the service may take to stop.
    var gracefulShutdownLimit: Duration { consumer.drainTimeout + Self.stoppingTime }

    init(_ settings: Settings) throws(ConfigurationError) {
        generator = try Self.generator(settings)
        let memory = PictureThreads.defaultMemory
        threads = PictureThreads(memory: try settings.int("IMAGE_MEMORY_MIB", default: memory >> 20, in: (memory >> 20)...65_536) << 20)
        photoLifetime = try settings.photoLifetime()
        var consumer = EventConsumerConfiguration()
        consumer.concurrency = try settings.int("IMAGE_CONCURRENCY", default: 4, in: 1...64)
        consumer.handlerTimeout = Self.handlerTimeout
        // The handler gives a job up before the bus does, so that its user hears of it.
        consumer.retryPolicy.crashesMax = ImageRequestedHandler.crashesMax + 2
        // A call that is cancelled is paid for all the same, and made once more.
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
            configuration.imageSizeMax = try imageSizeMax(settings)
            return .gemini(configuration)
        default: throw ConfigurationError("IMAGE_GENERATOR", "is not valid", expectation: expectation)
        }
    }

    private static func imageSizeMax(_ settings: Settings) throws(ConfigurationError) -> GeminiConfiguration.ImageSize {
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
