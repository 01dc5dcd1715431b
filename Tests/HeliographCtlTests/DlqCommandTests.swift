import CommandLineSupport
import EventBus
import Foundation
import TestSupport
import Testing
import WireFormat

@testable import HeliographCtl

struct DlqCommandTests {
    @Test func `list shows reason and error, and --reason filters`() async throws {
        try await TestBus.with { bus in
            let failed = try await bus.deadLetter([ekyc()])
            let crashed = try await bus.deadLetter([ekyc()], reason: .crashes, error: "died\u{1B}[2J")
            let all = await heliographctl(["dlq", "list"] + bus.databaseArguments)
            #expect(all.exitCode == 0)
            #expect(all.results.count == 3)
            #expect(all.results[1].contains(failed[0].wireString))
            #expect(all.results[1].hasSuffix("failures        16        0  ekyc.requested  the server said no"))
            #expect(all.results[2].hasSuffix("crashes          0        3  ekyc.requested  died\u{FFFD}[2J"))

            let some = await heliographctl(["dlq", "list", "ekyc.requested", "--reason", "crashes", "--json"] + bus.databaseArguments)
            let letters = try parse(some.results, as: [[String: Any]].self)
            #expect(letters.map { $0["id"] as? String } == [crashed[0].wireString])
            #expect(letters[0]["error"] as? String == "died\u{1B}[2J")

            let none = await heliographctl(["dlq", "list", "notification.requested"] + bus.databaseArguments)
            #expect(none.exitCode == 0)
            #expect(none.notes == ["There are no dead letters."])
        }
    }

    @Test func `list notes when there are more than it prints`() async throws {
        try await TestBus.with { bus in
            try await bus.deadLetter((0..<3).map { _ in ekyc() })
            let result = await heliographctl(["dlq", "list", "--limit", "2"] + bus.databaseArguments)
            #expect(result.results.count == 3)
            #expect(result.notes == ["There are more: --limit 20 shows them."])
        }
    }

    @Test func `show prints every field and the body as JSON`() async throws {
        try await TestBus.with { bus in
            let event = ekyc()
            let id = try await bus.deadLetter([event], requestID: "req-1")[0]
            let letter = try #require(try await bus.deadLetters("ekyc.requested").first)
            let envelope = try #require(letter.envelope)
            let result = await heliographctl(["dlq", "show", "ekyc.requested", id.wireString] + bus.databaseArguments)
            #expect(
                result.results == [
                    "stream       ekyc.requested",
                    "group        face-matching-worker",
                    "dead letter  \(envelope.id.wireString)",
                    "was entry    17-0",
                    "dead since   \(HumanUnits.timestamp(letter.deadLetteredAt))",
                    "by           c1",
                    "reason       failures",
                    "failures     16",
                    "crashes      0",
                    "error        the server said no",
                    "type         ekyc.requested (version 1)",
                    "key          \(event.sessionID.wireString)",
                    "occurred     \(HumanUnits.timestamp(envelope.occurredAt))",
                    "request      req-1",
                    "body",
                    "  {",
                    "    \"event\" : \"sign_in\",",
                    "    \"lane\" : \"new\",",
                    "    \"session_id\" : \"\(event.sessionID.wireString)\"",
                    "  }",
                ])
            let json = await heliographctl(["dlq", "show", "ekyc.requested", id.wireString, "--json"] + bus.databaseArguments)
            let document = try parse(json.results, as: [String: Any].self)
            #expect(document["request_id"] as? String == "req-1")
            #expect(document["message_id"] as? String == envelope.id.wireString)
        }
    }

    @Test func `show reports an unknown id`() async throws {
        try await TestBus.with { bus in
            let result = await heliographctl(["dlq", "show", "ekyc.requested", Self.unknown] + bus.databaseArguments)
            #expect(result.exitCode == 1)
            #expect(result.notes[0].hasPrefix("ekyc.requested has no dead letter \(Self.unknown)"))
        }
    }

    @Test func `show prints the fields of an unreadable entry`() async throws {
        try await TestBus.with { bus in
            let letter = NewDeadLetter(
                entryID: EntryID(milliseconds: 1_763_731_805_123, sequence: 7), messageID: nil, fields: [(name: "b", value: [0xFF])],
                reason: .unreadable, error: "field i is missing", failures: 0, crashes: 0)
            try await bus.deadLetter([letter], of: "ekyc.requested")
            let id = try await bus.deadLetters("ekyc.requested")[0].id
            let result = await heliographctl(["dlq", "show", "ekyc.requested", id.wireString] + bus.databaseArguments)
            #expect(result.results.suffix(2) == ["error        field i is missing", "b            \u{FFFD}"])
        }
    }

    @Test func `redrive and drop need --yes without a terminal`() async throws {
        try await TestBus.with { bus in
            let id = try await bus.deadLetter([ekyc()])[0]
            for verb in ["redrive", "drop"] {
                let result = await heliographctl(["dlq", verb, "ekyc.requested", id.wireString] + bus.databaseArguments)
                #expect(result.exitCode == 64)
                #expect(result.notes[0].hasPrefix("Will \(verb) 1 dead letter of ekyc.requested (face-matching-worker): 1 failures; "))
                #expect(result.notes[1] == "Nothing was changed: without a terminal add --yes to confirm.")
            }
            #expect(try await bus.deadLetters("ekyc.requested").count == 1)
        }
    }

    @Test func `drop asks, and only yes confirms`() async throws {
        try await TestBus.with { bus in
            let ids = try await bus.deadLetter([ekyc(), ekyc()])
            let arguments = ["dlq", "drop", "ekyc.requested", ids[0].wireString] + bus.databaseArguments
            let no = await heliographctl(arguments, answer: "")
            #expect(no.exitCode == 1)
            #expect(no.notes.suffix(2) == ["Go on? [y/N]", "Nothing was changed."])
            #expect(try await bus.deadLetters("ekyc.requested").count == 2)
            let yes = await heliographctl(arguments, answer: "Y")
            #expect(yes.exitCode == 0)
            #expect(yes.results == ["dropped 1"])
            #expect(try await bus.deadLetters("ekyc.requested").map(\.id) == [ids[1]])
        }
    }

    @Test func `redrive has the messages published to their group again`() async throws {
        try await TestBus.with { bus in
            let ids = try await bus.deadLetter([ekyc(), ekyc(), ekyc()])
            let one = await heliographctl(
                ["dlq", "redrive", "ekyc.requested", ids[1].wireString, Self.unknown, "--yes"] + bus.databaseArguments)
            #expect(one.results == ["redriven 1"])
            #expect(one.notes[0] == "ekyc.requested has no dead letter \(Self.unknown).")
            let all = await heliographctl(["dlq", "redrive", "ekyc.requested", "--all", "--yes"] + bus.databaseArguments)
            #expect(all.results == ["redriven 2"])
            #expect(try await bus.outbox() == Array(repeating: "ekyc.requested|face-matching-worker|waiting", count: 3))
            #expect(try await bus.deadLetters("ekyc.requested").isEmpty)
            let again = await heliographctl(["dlq", "redrive", "ekyc.requested", "--all", "--yes"] + bus.databaseArguments)
            #expect(again.exitCode == 1)
            #expect(again.notes == ["There is nothing to redrive."])
        }
    }

    @Test func `redrive says which dead letters are no messages, and leaves them`() async throws {
        try await TestBus.with { bus in
            try await bus.deadLetter([ekyc()])
            let letter = NewDeadLetter(
                entryID: EntryID(milliseconds: 1, sequence: 0), messageID: nil, fields: [(name: "b", value: [0xFF])], reason: .unreadable,
                error: "field i is missing", failures: 0, crashes: 0)
            try await bus.deadLetter([letter], of: "ekyc.requested")
            let result = await heliographctl(["dlq", "redrive", "ekyc.requested", "--all", "--yes"] + bus.databaseArguments)
            #expect(result.results == ["redriven 1"])
            #expect(result.notes.last == "1 dead letter cannot be redriven: no message can be read from them.")
            #expect(try await bus.deadLetters("ekyc.requested").map(\.id) == [letter.id])
        }
    }

    @Test func `concurrent redrives move each dead letter once`() async throws {
        try await TestBus.with { bus in
            try await bus.deadLetter((0..<250).map { _ in ekyc() })
            let arguments = ["dlq", "redrive", "ekyc.requested", "--all", "--yes"] + bus.databaseArguments
            let results = await withTaskGroup(of: CommandResult.self) { group in
                for _ in 0..<3 { group.addTask { await heliographctl(arguments) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            let moved = results.flatMap(\.results).compactMap { Int($0.dropFirst("redriven ".count)) }
            #expect(moved.reduce(0, +) == 250)
            #expect(try await bus.outbox().count == 250)
        }
    }

    @Test func `--all with --reason leaves other dead letters alone`() async throws {
        try await TestBus.with { bus in
            try await bus.deadLetter([ekyc(), ekyc()])
            try await bus.deadLetter([ekyc()], reason: .crashes)
            let arguments = ["dlq", "redrive", "ekyc.requested", "--all", "--reason", "failures", "--yes"] + bus.databaseArguments
            #expect(await heliographctl(arguments).results == ["redriven 2"])
            #expect(try await bus.deadLetters("ekyc.requested").map(\.reason) == [.crashes])
        }
    }

    @Test func `--rate spreads the work over time`() async throws {
        try await TestBus.with { bus in
            try await bus.deadLetter((0..<6).map { _ in ekyc() })
            let start = ContinuousClock.now
            let arguments = ["dlq", "redrive", "ekyc.requested", "--all", "--rate", "10/s", "--yes"] + bus.databaseArguments
            #expect(await heliographctl(arguments).results == ["redriven 6"])
            #expect(ContinuousClock.now - start >= .milliseconds(500))
        }
    }

    @Test(arguments: [
        ["list", "nosuch.stream"], ["list", "--reason", "boredom"], ["show", "ekyc.requested"], ["show", "ekyc.requested", "1-0"],
        ["drop", "ekyc.requested"], ["drop", "ekyc.requested", unknown, "--all"], ["redrive", "ekyc.requested", "--all", "--rate", "0"],
        ["redrive", "ekyc.requested", unknown, "--reason", "failures"],
    ])
    func `wrong arguments exit with 64`(_ arguments: [String]) async {
        #expect(await heliographctl(["dlq"] + arguments).exitCode == 64)
    }

    /// An id that no dead letter has.
    private static let unknown = "019aa3f0-0000-7000-8000-000000000000"

    private func parse<Value>(_ lines: [String], as type: Value.Type) throws -> Value {
        try #require(try JSONSerialization.jsonObject(with: Data(lines.joined(separator: "\n").utf8)) as? Value)
    }
}
