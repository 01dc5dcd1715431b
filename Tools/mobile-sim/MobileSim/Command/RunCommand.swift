internal import ArgumentParser
internal import Foundation
internal import MobileClient

/// The command `mobile-sim run`.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Have many phones live for a while, with everything going wrong on their side, and check what must hold.",
        discussion: """
            PEOPLE sign in, order pictures, add photos to events, write messages, look at conversations, sign out, and sign in again, \
            also to other accounts. Faces are expensive: --enrolling says how many phones prove an address, sign up by nine photos and \
            sign in by three; --sharing how many sign in by face to an account of those; the others sign in with Firebase, whose ID \
            tokens the emulator gives out. The report says how many were which. Of what is shown of faces, --challenges says how much \
            answers a challenge; some people show the poses in another order.

            FAULTS: networks are lost; answers are lost after the request was handled, or are slow; apps end at any request, answer or \
            pause, and are started again on the same folder; pushes are late, twice or missing; push tokens are replaced. --faults 0 has \
            none of these, --faults 3 three times as many.

            CHECKED, all the time and at the end, when a day passes on each phone: each order and each session ends once in a process, \
            and once altogether where the app has acknowledged it; nothing is pending after 24 hours; no file is left; nothing is \
            presented about the conversation on the screen; the badge is not negative; no result comes under another account; poses in \
            the order of their challenge pass the check for a live person, and others do not. A violation is printed with the phone, the \
            seed and the last 50 events of the phone; the exit code is then 1.

            THE SAME SEED makes the same plan of each phone: what it does, when, and what happens to it. How the threads of two \
            processors meet is not in it, so a second run is like the first and not its copy.

            SIGN-INS BY FACE REPEATED: a photo is accepted once for an account, so without --copies each face signs in once, no phone \
            shares an account, no sign-in answers a challenge, and only people with Firebase sign out. Start the stack by \
            `FACE_REPLAY_CHECK=files make up` to give --copies.

            SERVICES may be killed meanwhile, as `make faults` does: what must hold is the same.
            """)

    @OptionGroup var options: RunOptions

    func run() async throws {
        let console = SimConsole.standard
        let scenario = options.scenario()
        let world = World(
            scenario, try StackAddresses.find(in: options.stackFolder), photos: try PhotoBook(options.photoFolder),
            folder: try options.makeFolder(), transports: (0..<8).map { _ in URLSessionTransport(connectionsPerHost: 24) },
            control: URLSessionTransport(connectionsPerHost: 64)
        ) { violation in violation.lines.forEach(console.note) }
        console.note("\(scenario.phones) phones, \(SimConsole.clock(scenario.duration)) minutes, seed \(scenario.seed), \(world.name)")
        let report: SimReport
        do {
            report = try await Simulation(
                world: world, settleTime: options.settle * 60, keepsFiles: options.keep, console: console
            ).run()
        } catch let failure as EmulatorControl.Failure {
            console.note("mobile-sim: \(failure)")
            throw ExitCode(75)
        }
        report.lines(console).forEach { console.result($0) }
        if let folder = options.report {
            let page = try report.write(to: URL(fileURLWithPath: folder))
            console.result("\nReport: \(page.path)")
        }
        if !report.violations.isEmpty { throw ExitCode.failure }
    }
}

/// The options of `mobile-sim run`.
struct RunOptions: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp("The number of phones.", valueName: "number"))
    var phones = 1_000

    @Option(name: .long, help: ArgumentHelp("How long they live.", valueName: "number"))
    var minutes = 30.0

    @Option(
        name: .long,
        help: ArgumentHelp("Makes the same plans again; printed at the start and in the report. Default: a new one.", valueName: "number"))
    var seed: UInt64?

    @Option(name: .long, help: ArgumentHelp("Write report.json and report.html there.", valueName: "folder"))
    var report: String?

    @Option(name: .long, help: ArgumentHelp("The share of phones that sign up and in by face, from 0 to 1.", valueName: "share"))
    var enrolling = 0.03

    @Option(
        name: .long,
        help: ArgumentHelp("The share of phones that sign in by face to an account of another phone; needs --copies.", valueName: "share"))
    var sharing = 0.02

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The share of sign-ups and (with --copies) sign-ins by face that answer a challenge, from 0 to 1.", valueName: "share"))
    var challenges = 0.5

    @Flag(name: .long, help: "The stack runs with FACE_REPLAY_CHECK=files.")
    var copies = false

    @Option(name: .long, help: ArgumentHelp("Pictures that a phone orders, on average.", valueName: "number"))
    var orders = 1.5

    @Option(name: .long, help: ArgumentHelp("How many times the usual number of faults.", valueName: "factor"))
    var faults = 1.0

    @Option(name: .long, help: ArgumentHelp("Minutes for what is under way to end after the run.", valueName: "number"))
    var settle = 5.0

    @Option(name: .long, help: ArgumentHelp("The folder of photos. Default: HELIOGRAPH_PHOTOS, or .cache/photos.", valueName: "folder"))
    var photos: String?

    @Option(name: .long, help: ArgumentHelp("The folder of `make up`. Default: HELIOGRAPH_RUN, or .run.", valueName: "folder"))
    var stack: String?

    @Option(name: .long, help: ArgumentHelp("Where the phones have their folders. Default: a temporary folder.", valueName: "folder"))
    var work: String?

    @Flag(name: .long, help: "Keep the phones' folders.")
    var keep = false

    mutating func validate() throws {
        guard (1...20_000).contains(phones) else { throw ValidationError("--phones is 1 to 20000.") }
        guard (0.1...1_440).contains(minutes), (0...240).contains(settle) else {
            throw ValidationError("--minutes is 0.1 to 1440, --settle 0 to 240.")
        }
        guard (0...1).contains(enrolling), (0...1).contains(sharing), enrolling + sharing <= 1 else {
            throw ValidationError("--enrolling and --sharing are shares, together at most 1.")
        }
        guard sharing == 0 || enrolling > 0 || !copies else {
            throw ValidationError("--sharing needs --enrolling: a phone must have made the account.")
        }
        guard (0...1).contains(challenges) else { throw ValidationError("--challenges is a share, from 0 to 1.") }
        guard (0...10).contains(faults), (0...100).contains(orders) else {
            throw ValidationError("--faults is 0 to 10, --orders 0 to 100.")
        }
    }

    func scenario() -> Scenario {
        var scenario = Scenario()
        scenario.phones = phones
        scenario.minutes = minutes
        // Short enough to be typed again.
        scenario.seed = seed ?? UInt64.random(in: 1...999_999)
        scenario.enrolling = enrolling
        scenario.sharing = copies ? sharing : 0
        scenario.acceptsCopies = copies
        scenario.challenges = challenges
        scenario.orders = orders
        return scenario.faults(times: faults)
    }

    var stackFolder: String { stack ?? ProcessInfo.processInfo.environment["HELIOGRAPH_RUN"] ?? ".run" }
    var photoFolder: String { photos ?? ProcessInfo.processInfo.environment["HELIOGRAPH_PHOTOS"] ?? ".cache/photos" }

    func makeFolder() throws -> URL {
        let parent = work.map { URL(fileURLWithPath: $0) } ?? FileManager.default.temporaryDirectory
        let folder = parent.appending(path: "mobile-sim-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        return folder
    }
}
