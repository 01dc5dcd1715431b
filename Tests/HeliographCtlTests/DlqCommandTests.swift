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
            let all = await heliographctl(["dlq", "list"] + bus.redisArguments)
            #expect(all.exitCode == 0)
            #expect(all.results.count == 3)
            #expect(all.results[1].contains("\(failed[0])"))
            #expect(all.results[1].hasSuffix("failures        16        0  ekyc.requested  the server said no"))
            #expect(all.results[2].hasSuffix("crashes          0        3  ekyc.requested  died\u{FFFD}[2J"))

            let some = await heliographctl(["dlq", "list", "ekyc.requested", "--reason", "crashes", "--json"] + bus.redisArguments)
            let letters = try parse(some.results, as: [[String: Any]].self)
            #expect(letters.map { $0["id"] as? String } == ["\(crashed[0])"])
            #expect(letters[0]["error"] as? String == "died\u{1B}[2J")

            let none = await heliographctl(["dlq", "list", "notification.requested"] + bus.redisArguments)
            #expect(none.exitCode == 1)
            #expect(none.notes == ["There are no dead letters."])
        }
    }

    @Test func `list notes when there are more than it prints`() async throws {
        try await TestBus.with { bus in
            try await bus.deadLetter((0..<3).map { _ in ekyc() })
            let result = await heliographctl(["dlq", "list", "--limit", "2"] + bus.redisArguments)
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
            let result = await heliographctl(["dlq", "show", "ekyc.requested", "\(id)"] + bus.redisArguments)
            #expect(
                result.results == [
                    "stream       ekyc.requested",
                    "group        face-matching-worker",
                    "dead letter  \(id)",
                    "was entry    \(letter.entryID)",
                    "dead since   \(HumanUnits.timestamp(letter.deadLetteredAt))",
                    "by           c1",
                    "reason       failures",
                    "failures     16",
                    "crashes      0",
                    "error        the server said no",
                    "message      \(envelope.id.wireString)",
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
            let json = await heliographctl(["dlq", "show", "ekyc.requested", "\(id)", "--json"] + bus.redisArguments)
            let document = try parse(json.results, as: [String: Any].self)
            #expect(document["request_id"] as? String == "req-1")
            #expect(document["message_id"] as? String == envelope.id.wireString)
        }
    }

    @Test func `show reports an unknown id`() async throws {
        try await TestBus.with { bus in
            let result = await heliographctl(["dlq", "show", "ekyc.requested", "1-0"] + bus.redisArguments)
            #expect(result.exitCode == 1)
            #expect(result.notes[0].hasPrefix("ekyc.requested has no dead letter 1-0"))
        }
    }

    @Test func `show prints the fields of an unreadable entry`() async throws {
        try await TestBus.with { bus in
            _ = try await bus.transport.append([OutgoingEntry(stream: "ekyc.requested", fields: [(name: "b", value: [0xFF])])])
            let entry = try await bus.deliver("ekyc.requested")[0]
            let deadLetterRequest = DeadLetterRequest(id: entry, reason: .unreadable, error: "field i is missing", failures: 0, crashes: 0)
            _ = try await bus.transport.deadLetter([deadLetterRequest], by: GroupConsumer(group: bus.group("ekyc.requested"), name: "c1"))
            let id = try await bus.deadLetters("ekyc.requested")[0].id
            let result = await heliographctl(["dlq", "show", "ekyc.requested", "\(id)"] + bus.redisArguments)
            #expect(result.results.suffix(2) == ["error        field i is missing", "b            \u{FFFD}"])
        }
    }

    @Test func `redrive and drop need --yes without a terminal`() async throws {
        try await TestBus.with { bus in
            let id = try await bus.deadLetter([ekyc()])[0]
            for verb in ["redrive", "drop"] {
                let servers = verb == "drop" ? bus.redisArguments : bus.arguments
                let result = await heliographctl(["dlq", verb, "ekyc.requested", "\(id)"] + servers)
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
            let arguments = ["dlq", "drop", "ekyc.requested", "\(ids[0])"] + bus.redisArguments
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

    @Test func `redrive moves the messages back to the group`() async throws {
        try await TestBus.with { bus in
            let ids = try await bus.deadLetter([ekyc(), ekyc(), ekyc()])
            let one = await heliographctl(["dlq", "redrive", "ekyc.requested", "\(ids[1])", "9-9", "--yes"] + bus.arguments)
            #expect(one.results == ["redriven 1"])
            #expect(one.notes[0] == "ekyc.requested has no dead letter 9-9.")
            let all = await heliographctl(["dlq", "redrive", "ekyc.requested", "--all", "--yes"] + bus.arguments)
            #expect(all.results == ["redriven 2"])
            let status = try await bus.transport.status(of: bus.group("ekyc.requested"))
            #expect((status.undelivered, status.dead) == (3, 0))
            let again = await heliographctl(["dlq", "redrive", "ekyc.requested", "--all", "--yes"] + bus.arguments)
            #expect(again.exitCode == 1)
            #expect(again.notes == ["There is nothing to redrive."])
        }
    }

    @Test func `concurrent redrives move each dead letter once`() async throws {
        try await TestBus.with { bus in
            try await bus.deadLetter((0..<250).map { _ in ekyc() })
            let arguments = ["dlq", "redrive", "ekyc.requested", "--all", "--yes"] + bus.arguments
            let results = await withTaskGroup(of: CommandResult.self) { group in
                for _ in 0..<3 { group.addTask { await heliographctl(arguments) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            let moved = results.flatMap(\.results).compactMap { Int($0.dropFirst("redriven ".count)) }
            #expect(moved.reduce(0, +) == 250)
            #expect(try await bus.transport.status(of: bus.group("ekyc.requested")).undelivered == 250)
        }
    }

    @Test func `the outbox tracks a redriven message again, and a dropped one not`() async throws {
        try await TestBus.with { bus in
            let ids = try await bus.deadLetter([ekyc(), ekyc()])
            for letter in try await bus.deadLetters("ekyc.requested") {
                let message = try #require(letter.envelope)
                try await bus.database.psql(
                    """
                    INSERT INTO outbox (stream, message_id, key, type, version, occurred_at, body, state, published_at, entry_id,
                                        settled_at)
                    VALUES ('ekyc.requested', '\(message.id)', 'k', 'ekyc.requested', 1, now(), '{}', 'dead', now(), '1-1', now())
                    """)
            }
            #expect(await heliographctl(["dlq", "drop", "ekyc.requested", "\(ids[0])", "--yes"] + bus.redisArguments).exitCode == 0)
            #expect(await heliographctl(["dlq", "redrive", "ekyc.requested", "--all", "--yes"] + bus.arguments).exitCode == 0)
            #expect(try await bus.database.psql("SELECT state FROM outbox ORDER BY id") == "dead\npublished")
        }
    }

    @Test func `--all with --reason leaves other dead letters alone`() async throws {
        try await TestBus.with { bus in
            try await bus.deadLetter([ekyc(), ekyc()])
            try await bus.deadLetter([ekyc()], reason: .crashes)
            let arguments = ["dlq", "redrive", "ekyc.requested", "--all", "--reason", "failures", "--yes"] + bus.arguments
            #expect(await heliographctl(arguments).results == ["redriven 2"])
            #expect(try await bus.deadLetters("ekyc.requested").map(\.reason) == [.crashes])
        }
    }

    @Test func `--rate spreads the work over time`() async throws {
        try await TestBus.with { bus in
            try await bus.deadLetter((0..<6).map { _ in ekyc() })
            let start = ContinuousClock.now
            let arguments = ["dlq", "redrive", "ekyc.requested", "--all", "--rate", "10/s", "--yes"] + bus.arguments
            #expect(await heliographctl(arguments).results == ["redriven 6"])
            #expect(ContinuousClock.now - start >= .milliseconds(500))
        }
    }

    @Test(arguments: [
        ["list", "nosuch.stream"], ["list", "--reason", "boredom"], ["show", "ekyc.requested"], ["show", "ekyc.requested", "x"],
        ["drop", "ekyc.requested"], ["drop", "ekyc.requested", "1-0", "--all"], ["redrive", "ekyc.requested", "--all", "--rate", "0"],
        ["redrive", "ekyc.requested", "1-0", "--reason", "failures"],
    ])
    func `wrong arguments exit with 64`(_ arguments: [String]) async {
        #expect(await heliographctl(["dlq"] + arguments).exitCode == 64)
    }

    private func parse<Value>(_ lines: [String], as type: Value.Type) throws -> Value {
        try #require(try JSONSerialization.jsonObject(with: Data(lines.joined(separator: "\n").utf8)) as? Value)
    }
}
