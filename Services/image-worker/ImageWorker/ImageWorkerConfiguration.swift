internal import EventBus
internal import ImageGenerators
internal import Imaging
internal import Pictures
internal import ServiceDefaults
internal import Topics

/// The settings of the image worker.
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
    let sandbox: SandboxMode
    let consumer: EventConsumerConfiguration
    let photoLifetime: Duration
    /// The places of an account in the streams; 0 is no limit.
    let placesPerUser: Int
    /// The paid calls of a day.
    let callLimits: ImageCallLimits

    /// The time limit of a graceful shutdown.
    var gracefulShutdownLimit: Duration { consumer.drainTimeout + Self.stoppingTime }

    init(_ settings: Settings) throws(ConfigurationError) {
        generator = try Self.generator(settings)
        let memory = PictureThreads.defaultMemory
        let mebibytes = try settings.int(
            "IMAGE_MEMORY_MIB", default: memory >> 20, in: (memory >> 20)...65_536,
            about: """
                MiB that the pictures in work take together; a process takes some 80 MiB besides, and some 20 for each of its decoders
                """)
        threads = PictureThreads(memory: mebibytes << 20)
        sandbox = try settings.imageSandbox(deployed: SandboxMode.required, local: .available)
        photoLifetime = try settings.photoLifetime(default: NewTopicPhoto.defaultLifetime)
        placesPerUser = try settings.imageJobsInFlight(default: ImageJobRepository.usualPlaces)
        callLimits = ImageCallLimits(
            perUser: try settings.imageCallsPerUser(default: ImageCallLimits.usual.perUser),
            total: try settings.int(
                "IMAGE_CALLS_PER_DAY", default: ImageCallLimits.usual.total, in: 0...100_000_000,
                about: """
                    calls of a paid generator in a day (UTC), for all accounts and over all instances, then orders fail until midnight. \
                    The last fifth is for accounts that have made at most a tenth of theirs; an alert fires when it begins. 0 is no limit
                    """))
        var consumer = EventConsumerConfiguration()
        consumer.concurrency = try settings.int(
            "IMAGE_CONCURRENCY", default: 4, in: 1...64, about: "jobs in work at once; with `local` the cores are the limit")
        consumer.handlerTimeout = Self.handlerTimeout
        // The handler fails a job before the bus dead-letters its entry, so that the user is notified.
        consumer.retryPolicy.maxCrashes = ImageRequestedHandler.maxCrashes + 2
        // Waits for a running call: a cancelled call is paid for as well, and would be repeated.
        if case .gemini(let gemini) = generator { consumer.drainTimeout = gemini.timeout + Self.finishingTime }
        self.consumer = consumer
    }

    private enum GeneratorKind: String, CaseIterable { case local, gemini }

    private static func generator(_ settings: Settings) throws(ConfigurationError) -> Generator {
        switch try settings.choice(
            "IMAGE_GENERATOR", default: GeneratorKind.local, about: "what makes pictures; local needs no key and no network")
        {
        case .local: return .local
        case .gemini:
            var configuration = GeminiConfiguration(
                apiKey: try settings.string("GEMINI_API_KEY", "a key of Google's AI Studio", about: "the key of Gemini"),
                model: try settings.string("GEMINI_MODEL", "the name of an image model", about: "the model that makes the pictures"))
            let url = try settings.optionalString("GEMINI_BASE_URL", "a URL", otherwise: "Google's", about: "for the emulator only")
            if let url { configuration.baseURL = url }
            configuration.caFile = try settings.authorities("GEMINI_CA_FILE", about: "for the emulator only")
            configuration.maxImageSize = try settings.choice(
                "GEMINI_IMAGE_SIZE_MAX", default: .oneK,
                about: "the largest size that the model is asked for; only models of version 3 and later can be asked")
            return .gemini(configuration)
        }
    }
}
