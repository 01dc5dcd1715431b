internal import ArgumentParser
internal import CommandLineSupport
internal import Foundation
internal import HTTPClient
internal import ServiceDefaults

/// The options that describe a load.
struct LoadOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The URL of identity-api, as phones reach it.", discussion: "Default: IDENTITY_API_URL.", valueName: "url"))
    var url: String?

    @Option(name: .long, help: ArgumentHelp("A PEM file of the authorities that sign its certificate.", valueName: "path"))
    var caFile: String?

    @Option(name: .long, help: ArgumentHelp("The rate of arrivals: 2/s, 90/min, 500/h.", valueName: "rate"))
    var rate: RateArgument

    @Option(name: .long, help: ArgumentHelp("The measured time: 90s, 10m, 8h; up to 30d.", valueName: "time"))
    var duration = TimeSpan(.seconds(60))

    @Option(name: .long, help: ArgumentHelp("The time under load before measuring begins.", valueName: "time"))
    var warmUp = TimeSpan(.seconds(10))

    @Option(
        name: .long,
        help: ArgumentHelp("The kinds of actions, by weight: sign-in, sign-up, image, upload.", valueName: "kind=weight,…"))
    var mix = LoadMix.standard

    @Option(name: .long, help: ArgumentHelp("poisson: like independent people; constant: evenly.", valueName: "pattern"))
    var arrivals = Arrivals.Pattern.poisson

    @Option(name: .long, help: ArgumentHelp("The same seed gives the same people at the same times.", valueName: "number"))
    var seed: UInt64 = 1

    @Option(name: .long, help: ArgumentHelp("The most in flight at once; later arrivals wait, which counts.", valueName: "number"))
    var concurrency = 200

    @Option(name: .long, help: ArgumentHelp("The time after which an action counts as failed.", valueName: "time"))
    var patience = TimeSpan(.seconds(60))

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The time for which a request that got no answer is sent again, as an app does.",
            discussion: "With the same X-Request-ID and body. Repetitions are counted, and their time is part of the latency.",
            valueName: "time"))
    var retry = TimeSpan(.zero)

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A folder with one folder for each person.",
            discussion: "Default: HELIOGRAPH_PHOTOS, or .cache/photos, which `make setup` fills.", valueName: "path"))
    var photos: String?

    @Option(name: .long, help: ArgumentHelp("A folder of pictures for images and uploads, instead of the people's.", valueName: "path"))
    var pictures: String?

    @Option(name: .long, help: ArgumentHelp("The minimum number of accounts to share the work.", valueName: "number"))
    var accounts = 2

    @Option(name: .long, help: ArgumentHelp("The FCM emulator that the notifier sends to; pushes are then timed.", valueName: "url"))
    var fcmEmulator: String?

    mutating func validate() throws {
        guard (1...10_000).contains(concurrency) else { throw ValidationError("--concurrency is 1 to 10000.") }
        guard (1...5_000).contains(accounts) else { throw ValidationError("--accounts is 1 to 5000.") }
        guard min(duration.duration, patience.duration) >= .seconds(1) else {
            throw ValidationError("--duration and --patience are at least 1s.")
        }
    }

    /// The base address, without a slash at its end.
    func baseURL() throws -> String {
        let url =
            try self.url
            ?? reporting(hint: "--url") {
                try Settings().string("IDENTITY_API_URL", "where identity-api is, such as http://127.0.0.1:8080")
            }
        return try Self.checked(url, "--url")
    }

    func emulatorURL() throws -> String? { try fcmEmulator.map { try Self.checked($0, "--fcm-emulator") } }

    /// The folder of people.
    var peopleFolder: String { photos ?? ProcessInfo.processInfo.environment["HELIOGRAPH_PHOTOS"] ?? ".cache/photos" }

    /// A client with room for `concurrency` requests at once, and those to the emulator.
    func client(for url: String) -> HTTPClient {
        var configuration = HTTPClientConfiguration()
        configuration.version = url.hasPrefix("https:") ? .http2 : .http1
        configuration.allowedSchemes = ["http", "https"]
        configuration.caFile = caFile
        configuration.maxConnectionsPerHost = concurrency + 8
        configuration.maxRequestsInFlight = 2 * concurrency + 64
        configuration.maxResponseBodyByteCount = 64 << 20
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
