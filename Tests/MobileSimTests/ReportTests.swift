import Foundation
import MobileClient
import Testing

@testable import MobileSim

@Suite struct ReportTests {
    private static let golden = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "Golden")

    private static func count(_ name: String, _ count: Int) -> SimReport.Count { SimReport.Count(name: name, count: count) }

    private static func report(violations: [Violation]) -> SimReport {
        SimReport(
            date: Date(timeIntervalSince1970: 1_795_660_000), scenario: Scenario(phones: 8, minutes: 2, seed: 42),
            kinds: [count("enrolling", 1), count("sharing", 1), count("firebase", 6)], seconds: 180, launches: 20, requests: 345,
            orders: 12,
            results: [
                SimReport.Results(trigger: .push, seconds: Samples([0.4, 0.6, 1.5, 2, 9]).summary),
                SimReport.Results(trigger: .poll, seconds: Samples([3.2, 3.4, 6.1]).summary),
                SimReport.Results(trigger: .launch, seconds: Samples([31, 75]).summary),
            ], sessions: [SimReport.Sessions(kind: "sign_in", seconds: Samples([0.8, 3.1]).summary)],
            orderEnds: [count("completed", 10), count("failed (processing_failed)", 2)],
            sessionEnds: [count("sign_in: signed in", 2), count("sign_in: failed (no_match)", 1)],
            challenges: [count("poses as asked: passed", 2), count("poses in another order: failed", 1)],
            eventsPerOrder: [count("1", 12)], eventsPerSession: [count("1", 3)],
            faults: FaultCount.Kind.allCases.enumerated().map { FaultCount(kind: $1, count: $0 * 3) },
            endings: [count("request", 4), count("pause", 2)], calls: [count("order", 12)],
            errors: [count("message: unreachable", 3)], pushes: [count("in the foreground", 9), count("tapped", 1)],
            minutes: [
                SimReport.Minute(minute: 0, orders: 7, ends: 3), SimReport.Minute(minute: 1, orders: 5, ends: 6),
                SimReport.Minute(minute: 2, orders: 0, ends: 3),
            ], leakedFiles: violations.isEmpty ? 0 : 1, violations: violations)
    }

    private static var violation: Violation {
        Violation(
            rule: .leakedFile, phone: 3, seed: 42, text: "1 files were left: <b>&\".form",
            events: [EventLog.Entry(at: 61.25, process: 2, text: "POST /v1/images/process gets 202")])
    }

    /// Compares with a golden file; where it differs, the new text is beside it, for a look and a `mv`.
    private static func compare(_ text: String, _ name: String) throws {
        let file = golden.appending(path: name)
        let wanted = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        guard text != wanted else { return }
        let other = FileManager.default.temporaryDirectory.appending(path: "mobile-sim-\(name)")
        try Data(text.utf8).write(to: other)
        Issue.record("\(name) is not what it was; it is in \(other.path) now")
    }

    @Test func `the page and the numbers of a good run are as they were`() throws {
        let report = Self.report(violations: [])
        try Self.compare(ReportPage(report).html, "report.html")
        try Self.compare(String(decoding: try report.json, as: UTF8.self), "report.json")
    }

    @Test func `a violation is on the page with its events, and cannot break out of it`() {
        let html = ReportPage(Self.report(violations: [Self.violation])).html
        #expect(html.contains("1 violations."))
        #expect(html.contains("&lt;b&gt;&amp;&quot;.form"))
        #expect(!html.contains("<b>&"))
        #expect(html.contains("1:01.2  process 2  POST /v1/images/process gets 202"))
    }

    @Test func `the page loads nothing from elsewhere, and has light and dark colours`() {
        let html = ReportPage(Self.report(violations: [])).html
        for mark in ["http://", "https://", "<script", "<link", "url(", "@import", "src="] { #expect(!html.contains(mark), "\(mark)") }
        #expect(html.contains("prefers-color-scheme:dark"))
        #expect(html.components(separatedBy: "<svg").count - 1 == html.components(separatedBy: "</svg>").count - 1)
    }

    @Test func `a plot without values says so`() {
        #expect(ReportPlot.distributions([]).contains("There was none"))
        #expect(ReportPlot.bars([], title: "None").contains("There was none"))
        #expect(ReportPlot.minutes([]).contains("There was none"))
    }

    @Test func `numbers can be read again`() throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let report = try decoder.decode(SimReport.self, from: Self.report(violations: [Self.violation]).json)
        #expect(report.violations == [Self.violation])
        #expect(report.rules.first { $0.rule == .leakedFile }?.count == 1)
    }

    @Test func `the text names each rule`() {
        let lines = Self.report(violations: [Self.violation]).lines(SimConsole(isTerminal: false, hasColour: false))
        for rule in Violation.Rule.allCases { #expect(lines.contains { $0.contains(rule.rawValue) }) }
        #expect(lines.contains { $0.contains("no file is left") && $0.contains("1 violations") })
    }

    @Test func `report and page are written`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let page = try Self.report(violations: []).write(to: folder)
        #expect(page.lastPathComponent == "report.html")
        #expect(FileManager.default.fileExists(atPath: folder.appending(path: "report.json").path))
    }
}

@Suite struct DemoPartsTests {
    @Test func `a card is as wide in each line`() {
        let console = SimConsole(isTerminal: false, hasColour: true)
        let card = PhoneCard(
            title: "Image Ready! 🎨", body: "Your Oil Painting image has been processed and can be seen in the app now", time: "09:41:07",
            milliseconds: 812)
        let widths = card.lines(console).dropLast().map { line in
            PhoneCard.columns(line.replacing(/\u{1B}\[[0-9;]*m/, with: ""))
        }
        #expect(Set(widths) == [66])
    }

    @Test func `without colours a card is one line`() {
        let card = PhoneCard(title: "Title", body: "Body", time: "09:41:07", milliseconds: 5)
        let lines = card.lines(SimConsole(isTerminal: false, hasColour: false))
        #expect(lines == ["    [Heliograph, 09:41:07] Title: Body (5 ms)", ""])
    }

    @Test func `text is broken at spaces`() {
        #expect(PhoneCard.wrapped("one two three", 7) == ["one two", "three"])
        #expect(PhoneCard.wrapped("", 7) == [""])
    }

    @Test func `a detour leads to another host and names the first`() throws {
        let detour = try #require(MediaDetour("::s3:8333"))
        let led = detour.led(TransportRequest("GET", try #require(URL(string: "http://localhost:8080/a?b=c"))))
        #expect(led.url.absoluteString == "http://s3:8333/a?b=c")
        #expect(led.headers["Host"] == "localhost:8080")
        let other = try #require(MediaDetour("media:443:s3:1"))
        let url = try #require(URL(string: "http://localhost/a"))
        #expect(other.led(TransportRequest("GET", url)).url == url)
        #expect(MediaDetour("s3:8333") == nil)
    }

    @Test func `stamps of the emulator are read`() throws {
        let start = Date(timeIntervalSince1970: 1_795_660_000)
        #expect(DemoStory.milliseconds(from: start, to: "2026-11-26T02:26:41.250Z") == 1_250)
        #expect(DemoStory.milliseconds(from: start, to: "nonsense") == 0)
    }

    @Test func `time is shown as a clock does`() {
        #expect(SimConsole.clock(65) == "1:05")
        #expect(SimConsole.clock(7_200) == "2:00:00")
        #expect(ReportPage.time(0.25) == "250 ms")
        #expect(ReportPage.time(nil) == "–")
    }
}
