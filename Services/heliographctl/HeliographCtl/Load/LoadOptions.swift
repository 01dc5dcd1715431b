internal import ArgumentParser
internal import Foundation
internal import HTTPClient
internal import ServiceDefaults

/// What a load is made of.
struct LoadOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "Where identity-api is, as phones reach it.", discussion: "Without it IDENTITY_API_URL counts.", valueName: "url"))
    var url: String?

    @Option(name: .long, help: ArgumentHelp("A PEM file of the authorities that sign its certificate.", valueName: "path"))
    var caFile: String?

    @Option(name: .long, help: ArgumentHelp("How many come: 2/s, 90/min, 500/h.", valueName: "rate"))
    var rate: Rate

    @Option(name: .long, help: ArgumentHelp("How long is measured: 90s, 10m, 8h; up to 30d.", valueName: "time"))
    var duration = Span(seconds: 60)

    @Option(name: .long, help: ArgumentHelp("How long the same goes on before it counts.", valueName: "time"))
    var warmUp = Span(seconds: 10)

    @Option(
        name: .long,
        help: ArgumentHelp("What they do, by weight: sign-in, sign-up, image, upload.", valueName: "kind=weight,…"))
    var mix = LoadMix.standard

    @Option(name: .long, help: ArgumentHelp("poisson: like independent people; constant: evenly.", valueName: "pattern"))
    var arrivals = Arrivals.Pattern.poisson

    @Option(name: .long, help: ArgumentHelp("The same seed, the same people at the same times.", valueName: "number"))
    var seed: UInt64 = 1

    @Option(name: .long, help: ArgumentHelp("The most under way at once; who comes then waits, and it shows.", valueName: "number"))
    var concurrency = 200

    @Option(name: .long, help: ArgumentHelp("How long each may take before it counts as failed.", valueName: "time"))
    var patience = Span(seconds: 60)

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A folder with a folder a person.",
            discussion: "Without it HELIOGRAPH_PHOTOS counts, or .cache/photos, which `make setup` fills.", valueName: "path"))
    var photos: String?

    @Option(name: .long, help: ArgumentHelp("A folder of pictures for images and uploads, instead of the people's.", valueName: "path"))
    var pictures: String?

    @Option(name: .long, help: ArgumentHelp("The fewest accounts to share the work.", valueName: "number"))
    var accounts = 2

    @Option(name: .long, help: ArgumentHelp("The FCM emulator that the notifier sends to; pushes are then timed.", valueName: "url"))
    var fcmEmulator: String?

    mutating func validate() throws {
        guard (1...10_000).contains(concurrency) else { throw ValidationError("--concurrency is 1 to 10000.") }
        guard (1...5_000).contains(accounts) else { throw ValidationError("--accounts is 1 to 5000.") }
        guard duration.seconds > 0, patience.seconds > 0 else { throw ValidationError("--duration and --patience are at least 1s.") }
    }

    /// The base address, without a slash at its end.
    func baseURL() throws -> String {
        let url = try self.url ?? reporting(hint: "--url") {
            try Settings().string("IDENTITY_API_URL", "where identity-api is, such as http://127.0.0.1:8080")
        }
        return try Self.checked(url, "--url")
    }

    func emulatorURL() throws -> String? { try fcmEmulator.map { try Self.checked($0, "--fcm-emulator") } }

    /// The folder of people.
    var peopleFolder: String { photos ?? ProcessInfo.processInfo.environment["HELIOGRAPH_PHOTOS"] ?? ".cache/photos" }

    /// A client for as many requests at once as there may be, and the emulator's.
    func client(for url: String) -> HTTPClient {
        var configuration = HTTPClientConfiguration()
        configuration.version = url.hasPrefix("https:") ? .http2 : .http1
        configuration.allowedSchemes = ["http", "https"]
        configuration.caFile = caFile
        configuration.connectionsPerHostMax = concurrency + 8
        configuration.requestsInFlightMax = 2 * concurrency + 64
        configuration.responseBodyByteCountMax = 64 << 20
        return HTTPClient(configuration: configuration, logger: .silent)
    }

    private static func checked(_ url: String, _ option: String) throws -> String {
        guard url.hasPrefix("http://") || url.hasPrefix("https://"), !url.contains("?"), !url.contains("#") else {
            throw ValidationError("\(option) begins with http:// or https:// and has no query.")
        }
        return url.last == "/" ? String(url.dropLast()) : url
    }
}

extension Arrivals.Pattern: ExpressibleByArgument {}
