import EventBus
import Foundation
import TestSupport
import Testing
import WireFormat

@testable import HeliographCtl

@Suite(.timeLimit(.minutes(3))) struct TopCommandTests {
    private static let enter = "\u{1B}[?1049h"
    private static let leave = "\u{1B}[?1049l"
    private static let showCursor = "\u{1B}[?25h"

    private func withTop(
        columns: UInt16 = 120, rows: UInt16 = 40, _ body: (PseudoTerminal, TestBus) async throws -> Void
    ) async throws {
        try await TestBus.with { bus in
            let terminal = try PseudoTerminal(
                [PackageRoot.executable("heliographctl"), "top", "--interval", "100ms", "--wait", "60"], columns: columns, rows: rows,
                environment: bus.environment.merging(["TERM": "xterm", "NO_COLOR": ""]) { $1 })
            try await terminal.waitForOutput { $0.contains("notification.settled") }
            do { try await body(terminal, bus) } catch {
                terminal.signal(SIGKILL)
                throw error
            }
        }
    }

    @Test func `without a terminal it prints refreshes one after the other`() async throws {
        try await TestBus.with { bus in
            try await bus.deadLetter([ekyc()])
            let result = await heliographctl(["top", "--interval", "100ms", "--count", "2"] + bus.arguments)
            #expect(result.exitCode == 0)
            #expect(result.results.count { $0.hasPrefix("heliograph  ") } == 2)
            let lines = result.results.filter { $0.hasPrefix("ekyc.requested ") }
            #expect(lines.count == 2)
            #expect(lines.first?.contains("  –  ") == true)
            #expect(lines.last?.split(separator: " ").suffix(5) == ["0", "–", "0", "1", "0"])
            #expect(!result.results.joined().contains("\u{1B}"))
        }
    }

    @Test(arguments: ["q", "\u{3}"])
    func `a key ends it and restores the terminal`(_ key: String) async throws {
        try await withTop { terminal, _ in
            #expect(terminal.mode & tcflag_t(ECHO | ICANON | ISIG) == 0)
            try terminal.type("x" + key)
            #expect(await terminal.exitCode() == 0)
            try await expectRestored(terminal)
        }
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `a signal ends it and restores the terminal`(_ signal: Int32) async throws {
        try await withTop { terminal, _ in
            terminal.signal(signal)
            #expect(await terminal.exitCode() == 0)
            try await expectRestored(terminal)
        }
    }

    @Test func `a permanent failure ends it with an error and restores the terminal`() async throws {
        try await withTop { terminal, bus in
            try await bus.database.psql("DROP TABLE outbox")
            #expect(await terminal.exitCode() == 1)
            try await expectRestored(terminal)
            try await terminal.waitForOutput { $0.split(separator: Self.leave).last?.contains("Error: ") == true }
        }
    }

    @Test func `a server that does not answer is reported, and the view goes on`() async throws {
        try await withTop { terminal, bus in
            let name = bus.database.name
            try await bus.database.server.psql("ALTER DATABASE \(name) ALLOW_CONNECTIONS false")
            try await bus.database.server.psql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)'")
            try await terminal.waitForOutput { $0.contains("The database does not answer; these are the last known figures.") }
            let before = terminal.text.count
            try await bus.database.server.psql("ALTER DATABASE \(name) ALLOW_CONNECTIONS true")
            try await terminal.waitForOutput { $0.dropFirst(before).contains("Outbox: nothing pending.") }
            try terminal.type("q")
            #expect(await terminal.exitCode() == 0)
        }
    }

    @Test func `it fits the window, also after a change of its size`() async throws {
        try await withTop(columns: 70) { terminal, _ in
            let narrow = terminal.text
            #expect(!narrow.contains("CONSUMERS"))
            terminal.resize(columns: 120, rows: 40)
            try await terminal.waitForOutput { $0.dropFirst(narrow.count).contains("CONSUMERS") }
            terminal.resize(columns: 120, rows: 8)
            try await terminal.waitForOutput { $0.contains("more lines: enlarge the window") }
            try terminal.type("q")
            #expect(await terminal.exitCode() == 0)
        }
    }

    private func expectRestored(_ terminal: PseudoTerminal) async throws {
        // The last output of a program may be read after its end.
        try await terminal.waitForOutput { $0.contains(Self.leave) }
        #expect(terminal.text.contains(Self.enter))
        #expect(terminal.text.contains(Self.showCursor))
        #expect(terminal.mode & tcflag_t(ECHO | ICANON | ISIG) == tcflag_t(ECHO | ICANON | ISIG))
    }
}
