internal import ArgumentParser
internal import Foundation
internal import MobileClient
internal import Synchronization

/// The command `mobile-sim demo`.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Sign up, sign in, refuse another face, and have six pictures made, on phones that use MobileClient.",
        discussion: """
            A person signs up with nine photos, signs in with three others, and another person tries to sign in as them; then the first \
            has one portrait made into six pictures. Every answer, state and push is checked; exit code 1 when one differs. The photos \
            are real portraits in the public domain; deploy/local/fetch-photos.sh says which.

            MEDIA_CONNECT_TO=::HOST:PORT leads links to pictures elsewhere, as from inside a container; the links at the end come from \
            INBOX_URL, API_PAGE_URL, GRAFANA_URL and GRAFANA_HEALTH_URL.
            """)

    @Option(name: .long, help: ArgumentHelp("The folder of photos. Default: HELIOGRAPH_PHOTOS, or .cache/photos.", valueName: "folder"))
    var photos: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The folder of `make up`, where the contact sheet goes too. Default: HELIOGRAPH_RUN, or .run.", valueName: "folder"))
    var stack: String?

    @Option(name: .long, help: ArgumentHelp("Joins the pictures into one, such as deploy/local/contact-sheet.sh.", valueName: "program"))
    var contactSheet: String?

    @Option(name: .long, help: ArgumentHelp("The longest time for a session or a push.", valueName: "seconds"))
    var patience = 60

    mutating func validate() throws {
        guard (1...60).contains(patience) else { throw ValidationError("--patience is 1 to 60.") }
    }

    func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        let run = stack ?? environment["HELIOGRAPH_RUN"] ?? ".run"
        let console = SimConsole.standard
        let scratch = FileManager.default.temporaryDirectory.appending(path: "mobile-sim-demo-\(UUID().uuidString.prefix(8))")
        defer { try? FileManager.default.removeItem(at: scratch) }
        let caseName = Mutex("")
        do {
            try FileManager.default.createDirectory(
                at: scratch, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let story = DemoStory(
                addresses: try StackAddresses.find(in: run),
                photos: try PhotoBook(photos ?? environment["HELIOGRAPH_PHOTOS"] ?? ".cache/photos"), console: console, scratch: scratch,
                output: URL(fileURLWithPath: run), contactSheet: contactSheet, patience: patience,
                detour: environment["MEDIA_CONNECT_TO"].flatMap(MediaDetour.init), environment: environment
            ) { name in caseName.withLock { $0 = name + ": " } }
            try await story.tell()
        } catch {
            console.note("demo: \(caseName.withLock { $0 })\((error as? ValidationError)?.message ?? "\(error)")")
            throw ExitCode.failure
        }
    }
}
