public import ArgumentParser
internal import BuildVersion
internal import CommandLineSupport
internal import HTTPClient

/// Puts a load on an installation, and reports latencies and errors.
public struct LoadCommand: AsyncParsableCommand {
    /// The help of the command, with its kinds of work, its objectives and its exit code.
    public static let configuration = CommandConfiguration(
        commandName: "heliograph-load",
        abstract: "Have people sign in, order pictures and add photos, and measure how an installation carries it.",
        discussion: """
            People arrive by a schedule, whether those before them are served or not, and each latency runs from the scheduled \
            arrival: an installation that falls behind shows it. Raise the rate until an objective is missed; the rate before \
            is the capacity of this installation.

              export IDENTITY_API_URL=https://api.example.com
              heliograph-load --rate 2/s --objective 'sign-in p99<2s'
              heliograph-load --rate 5/s --mix sign-in=8,image=3
              heliograph-load --rate 30/min --duration 8h --json > soak.json

            KINDS. sign-in: three photos, until it is decided, and the token. sign-up: nine photos of a new person, until it is \
            decided. image: a picture ordered, made and fetched. upload: a photo added to an event. With --fcm-emulator also \
            until the push, except for uploads, which share one.

            OBJECTIVES. `KIND [answer|done|push] pN<TIME`, such as 'sign-in p99<2s', 'image answer p95<300ms', 'image push \
            p50<5s'; as many as you like. --errors-max counts everything that was not done. Exit code 1 when one is missed.

            PHOTOS. NAME/left-1.jpg to -3, right-, front- and sign-in-, for as many people as you like; each is sent with a \
            comment of its own, because photos that were sent before are refused as a replay: run face-matching-worker with \
            FACE_REPLAY_CHECK=files, so that it compares only the bytes of files.

            BEFORE IT BEGINS it signs up the accounts it needs (load-…@example.org), and each in on its phone: enough to keep each \
            below the API's limits for one account. One address may send 6,000 requests a minute, and take 50 upload slots but at most \
            half of all 64 (RATE_LIMIT_ADDRESS_…, UPLOAD_CONCURRENCY_PER_ADDRESS, UPLOAD_CONCURRENCY): raise these to measure more. \
            AFTERWARDS it deletes jobs, events and photos, and signs out; accounts stay.

            BEWARE: with IMAGE_GENERATOR=gemini each image is paid for. Without --fcm-emulator the phones' push tokens are made up, and \
            a notifier that sends to Google is refused each time: use a separate installation for that.
            """, version: HeliographVersion.current
    )

    @OptionGroup var options: LoadOptions

    @Option(name: .long, help: ArgumentHelp("A latency limit, such as 'sign-in p99<2s'; may be repeated.", valueName: "objective"))
    var objective: [LoadObjective] = []

    @Option(name: .customLong("errors-max"), help: ArgumentHelp("The share that may fail.", valueName: "percent"))
    var maxErrorShare = Share(0.01)

    @Option(name: .long, help: ArgumentHelp("Text about the installation for the report: its version, its machines.", valueName: "text"))
    var label: String?

    @Flag(name: .long, help: "Print the report as JSON.")
    var json = false

    @Flag(name: .long, help: "Do not clean up.")
    var keep = false

    /// Creates the command; the arguments are parsed into it.
    public init() {}

    /// Checks the objectives against the other options.
    public mutating func validate() throws {
        for objective in objective {
            guard options.mix.kinds.contains(objective.kind) else {
                throw ValidationError("The objective '\(objective.text)' is about a kind that --mix does not have.")
            }
            guard objective.stage != .push || options.fcmEmulator != nil else {
                throw ValidationError("The objective '\(objective.text)' needs --fcm-emulator.")
            }
        }
    }

    /// Runs the load and prints its report.
    public func run() async throws {
        let plan = LoadPlan(
            url: try options.baseURL(), label: label, perSecond: options.rate.perSecond, pattern: options.arrivals,
            mix: options.mix, seed: options.seed, duration: options.duration.duration, warmUp: options.warmUp.duration,
            maxConcurrency: options.concurrency, patience: options.patience.duration, countsPushes: options.fcmEmulator != nil,
            objectives: objective, maxErrorShare: maxErrorShare.value, retryTime: options.retry.duration)
        let photos = try LoadPhotos(people: options.peopleFolder, pictures: options.pictures)
        let emulator = try options.emulatorURL()
        let http = options.client(for: plan.url)
        let report: LoadReport
        do {
            report = try await Load(
                plan: plan, photos: photos, emulator: emulator, http: http, minAccounts: options.accounts, keepsData: keep,
                retries: LoadRetries(time: plan.retryTime)
            ).run()
        } catch {
            await http.shutdown()
            throw error
        }
        await http.shutdown()
        try Console.current.show(report, asJSON: json)
        if !report.isGood { throw ExitCode.failure }
    }
}
