internal import Foundation
internal import MobileClient
internal import Synchronization

/// The story of `make demo`, with phones that use MobileClient. Each step is checked.
final class DemoStory: Sendable {
    /// Something was not as it must be.
    struct Difference: Error, CustomStringConvertible {
        let description: String
    }

    /// One case, for the table at the end.
    struct Row: Sendable {
        let cells: [String]
    }

    /// The expected outcome of a session by face.
    struct Expectation {
        let event: String
        let path: String
        let message: String
        let state: String
        let title: String
        let body: String
    }

    let addresses: StackAddresses
    let photos: PhotoBook
    let console: SimConsole
    let emulator: EmulatorControl
    /// For the phones' folders and the pictures.
    let scratch: URL
    /// For what stays.
    let output: URL
    let contactSheet: String?
    let patience: Int
    let detour: MediaDetour?
    let environment: [String: String]
    /// Gets the name of each case as it begins, for an error.
    let onCase: @Sendable (String) -> Void
    let table = Mutex<[Row]>([])

    init(
        addresses: StackAddresses, photos: PhotoBook, console: SimConsole, scratch: URL, output: URL, contactSheet: String?, patience: Int,
        detour: MediaDetour?, environment: [String: String],
        onCase: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.addresses = addresses
        self.photos = photos
        self.console = console
        self.scratch = scratch
        self.output = output
        self.contactSheet = contactSheet
        self.patience = patience
        self.detour = detour
        self.environment = environment
        self.onCase = onCase
        emulator = EmulatorControl(url: addresses.emulator, transport: URLSessionTransport())
    }

    func tell() async throws {
        let email = "demo-\(Int(Date().timeIntervalSince1970))-\(Int.random(in: 1...32_767))@example.com"
        let (first, again) = (try await DemoPhone("a", in: self), try await DemoPhone("a-again", in: self))
        let other = try await DemoPhone("b", in: self)
        console.result()
        let token = try await proveAddress(email, on: first)
        let enrolled = try await signUp(token, on: first)
        try await signIn(email, as: enrolled, on: again)
        try await refuseStranger(email, on: other)
        begin("all cases")
        for phone in [first, again, other] {
            try expect("the number of pushes to a phone", "1", "\(try await emulator.pushes(to: phone.token, wait: 0).count)")
        }
        printTable()
        console.result("\nms: from the request to the push. All three as they must be.\n")
        try await tellPictures(on: again)
        await printLinks()
    }

    // MARK: Helpers

    func begin(_ name: String, isShown: Bool = false) {
        onCase(name)
        if isShown { console.result(console.bold(name)) }
    }

    func expect(_ what: String, _ wanted: String, _ found: String) throws(Difference) {
        guard wanted == found else { throw Difference(description: "\(what) should be '\(wanted)' but is '\(found)'") }
    }

    func step(_ what: String, _ text: String) {
        console.result("  " + what + String(repeating: " ", count: max(1, 33 - what.count)) + text)
    }

    /// Waits, but not for ever.
    func within<Answer: Sendable>(
        _ seconds: Int, _ what: String, _ body: @escaping @Sendable () async throws -> Answer
    ) async throws -> Answer {
        let (answers, answer) = AsyncThrowingStream.makeStream(of: Answer.self)
        let work = Task {
            do { answer.yield(try await body()) } catch { answer.finish(throwing: error) }
        }
        let timer = Task {
            try await Task.sleep(for: .seconds(seconds))
            answer.finish(throwing: Difference(description: "\(what): not within \(seconds) s"))
        }
        defer {
            timer.cancel()
            work.cancel()
        }
        for try await found in answers { return found }
        throw Difference(description: "\(what): nothing came")
    }

    private func printTable() {
        let rows = [Row(cells: ["case", "HTTP answer", "session state", "push", "ms"])] + table.withLock { $0 }
        let widths = (0..<5).map { column in rows.map { PhoneCard.columns($0.cells[column]) }.max() ?? 0 }
        for (index, row) in rows.enumerated() {
            let line = row.cells.enumerated().map { column, cell in
                let blanks = String(repeating: " ", count: widths[column] - PhoneCard.columns(cell))
                return column == 4 ? blanks + cell : cell + blanks
            }.joined(separator: "  ")
            console.result(index == 0 ? console.bold(line) : line)
        }
    }

    private func printLinks() async {
        console.result("\nSee the pushes on a phone: \(addresses.inbox)")
        console.result("What the API takes:        \(environment["API_PAGE_URL"] ?? "\(addresses.api.absoluteString)/")")
        guard let page = environment["GRAFANA_URL"], let health = environment["GRAFANA_HEALTH_URL"].flatMap({ URL(string: $0) }) else {
            return
        }
        let answer = try? await URLSessionTransport().send(TransportRequest("GET", health, timeout: .seconds(5)), maxBytes: 1 << 16)
        if answer?.status == 200 { console.result("What it does just now:     \(page)") }
    }
}
