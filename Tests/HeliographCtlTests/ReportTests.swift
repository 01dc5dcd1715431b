import CommandLineSupport
import EventBus
import Foundation
import Testing

@testable import HeliographCtl

struct ReportTests {
    private func row(
        _ stream: String, _ group: String?, dead: Int = 0, change: (inout GroupStatus) -> Void = { _ in }
    ) -> BusSnapshot.Row {
        var (status, deadLetters) = (GroupStatus(), DeadLetterBacklog())
        change(&status)
        deadLetters.count = dead
        return BusSnapshot.Row(stream: stream, group: group, status: status, deadLetters: deadLetters)
    }

    private func snapshot(_ rows: [BusSnapshot.Row]) -> BusSnapshot {
        BusSnapshot(
            takenAt: Date(timeIntervalSince1970: 1_763_731_805.123), rows: rows, outbox: .init())
    }

    @Test func `figures that need attention are coloured on a terminal only`() {
        let report = StreamsReport(
            snapshot: snapshot([
                row("a", "g", dead: 2) {
                    $0.undelivered = 1
                    $0.oldestUndeliveredAge = .seconds(90)
                    $0.retrying = 1
                }
            ]))
        let coloured = report.lines(TextStyle(hasColour: true))[1].text
        #expect(coloured.contains("\u{1B}[1;31m1m 30s\u{1B}[0m"))
        #expect(coloured.contains("\u{1B}[1;31m2\u{1B}[0m"))
        #expect(coloured.contains("\u{1B}[33m1\u{1B}[0m"))
        #expect(!report.lines(.plain).map(\.text).joined().contains("\u{1B}"))
    }

    @Test(arguments: [
        (true, [:], true), (true, ["NO_COLOR": "1"], false), (true, ["NO_COLOR": ""], true), (true, ["TERM": "dumb"], false),
        (false, [:], false),
    ])
    func `colour needs a terminal, and NO_COLOR turns it off`(
        _ isTerminal: Bool, _ environment: [String: String], _ expected: Bool
    ) {
        #expect(TextStyle(isTerminal: isTerminal, environment: environment).hasColour == expected)
    }

    @Test func `a narrow table omits the least important columns, and then is cut off`() {
        var table = Table([.init("ONE"), .init("TWO", .right, omissionRank: 2), .init("THREE", omissionRank: 1)])
        table.add([.init("first"), .init("2"), .init("third")])
        #expect(table.lines(.plain) == ["ONE    TWO  THREE", "first    2  third"])
        #expect(table.lines(.plain, width: 16) == ["ONE    THREE", "first  third"])
        #expect(table.lines(.plain, width: 7) == ["ONE", "first"])
        #expect(table.lines(.plain, width: 3) == ["ONE", "fir"])
    }

    @Test(arguments: [
        (0.0004, "0ms"), (0.0851, "85ms"), (0.9996, "1.0s"), (3.21, "3.2s"), (59.9, "59s"), (60, "1m"), (250, "4m 10s"),
        (7500, "2h 5m"), (273_600, "3d 4h"), (-3, "0ms"),
    ])
    func `ages are formatted in fitting units`(_ seconds: Double, _ text: String) {
        #expect(HumanUnits.age(.seconds(seconds)) == text)
    }

    @Test func `control characters of a message do not reach the terminal`() {
        #expect("a\u{1B}[2Jb\r\nc\u{202E}é".printable == "a\u{FFFD}[2Jb  c\u{FFFD}é")
    }

    @Test func `a value in a text loses its control characters, and a literal of the program keeps them`() {
        let name = "a\u{1B}]0;b\u{9B}"
        #expect(("\u{1B}[1m\(name)" as PrintableText).text == "\u{1B}[1ma\u{FFFD}]0;b\u{FFFD}")
        #expect(PrintableText.lines(of: "a\u{7}\nb").map(\.text) == ["a\u{FFFD}", "b"])
    }

    @Test func `JSON escapes what a terminal obeys`() throws {
        let hostile = "a\u{1B}\u{9B}\u{202E}\u{2028}\u{7F}👨‍👩‍👧"
        let text = try JSONOutput.text([hostile]).text
        #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control })
        #expect(!text.contains("\u{202E}") && !text.contains("\u{2028}"))
        #expect(try JSONDecoder().decode([String].self, from: Data(text.utf8)) == [hostile])
    }

    @Test func `each figure that is not normal has a sentence with what to do`() {
        let findings = snapshot([
            row("a", "g", dead: 2) {
                $0.undelivered = 3
                $0.oldestUndeliveredAge = .seconds(12)
                $0.retrying = 1
            }
        ]).findings
        #expect(findings.map(\.isProblem) == [true, false, true, false])
        #expect(findings[0].text.hasPrefix("No consumer reads for g: "))
        #expect(findings[1].text.hasPrefix("a: the oldest of 3 has waited for 12s. Start more instances of g"))
        #expect(findings[2].text.hasPrefix("2 dead letters of a: `heliographctl dlq list a` says why."))
        #expect(findings[3].text.hasPrefix("Failed, and tried again by itself: 1 of a."))
    }

    @Test func `a long sentence is broken between its words`() {
        #expect(PrintableText.wrapped("one two three", width: 7).map(\.text) == ["one two", "three"])
        #expect(PrintableText.wrapped("one two", width: nil).map(\.text) == ["one two"])
    }

    @Test func `top shows rates between two snapshots, and fits the window`() {
        var view = TopView(interval: .seconds(1))
        let start = ContinuousClock.now
        view.add(snapshot([row("ekyc.requested", "w") { $0.appended = 10 }, row("ekyc.completed", nil)]), at: start)
        #expect(view.lines(.plain, size: nil)[1] == "Settled –/s · backlog 0 · oldest – · retry 0 · dead 0")
        view.add(
            snapshot([
                row("ekyc.requested", "w") {
                    $0.appended = 40
                    $0.undelivered = 8
                    $0.pending = 2
                    $0.oldestPendingAge = .seconds(4)
                },
                row("ekyc.completed", nil) { $0.appended = 5 },
            ]), at: start + .seconds(2))
        #expect(
            view.lines(.plain, size: nil) == [
                "heliograph  2025-11-21 13:30:05 UTC  every 1.0s",
                "Settled 10.0/s · backlog 10 · oldest 4.0s · retry 0 · dead 0",
                "Outbox: nothing pending.",
                "",
                "STREAM          GROUP  APPEND/S  SETTLE/S  BACKLOG  OLDEST  RETRY  DEAD  CONSUMERS",
                "ekyc.requested  w          15.0      10.0       10    4.0s      0     0          0",
                "ekyc.completed  –           2.5         –        –       –      –     –          –",
                "",
            ])
        let small = view.lines(.plain, size: TerminalSize(columns: 60, rows: 5))
        #expect(small.count == 5)
        #expect(small.last == "3 more lines: enlarge the window")
        #expect(small[0].text.hasSuffix("  q quits"))
        view.fail("Redis does not answer.")
        #expect(view.lines(.plain, size: nil)[1] == "Redis does not answer.")
    }

    @Test func `a server that was emptied has no rate`() {
        var old = GroupStatus()
        old.appended = 100
        #expect(GroupRates(from: old, to: GroupStatus(), over: .seconds(1)) == nil)
        #expect(GroupRates(from: old, to: old, over: .zero) == nil)
        #expect(GroupRates(from: old, to: old, over: .seconds(1))?.settled == 0)
    }
}
