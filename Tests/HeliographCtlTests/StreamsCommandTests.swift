import EventBus
import Foundation
import TestSupport
import Testing
import WireFormat

@testable import HeliographCtl

struct StreamsCommandTests {
    @Test func `an empty installation has one line for each stream and group`() async throws {
        try await TestBus.with { bus in
            let result = await heliographctl(["streams"] + bus.arguments)
            #expect(result.exitCode == 0)
            #expect(
                result.results == [
                    "STREAM                         GROUP                 LENGTH  UNDELIVERED  PENDING  OLDEST  CONSUMERS  RETRY  DEAD",
                    "ekyc.requested                 face-matching-worker       0            0        0       –          0      0     0",
                    "ekyc.requested.known           face-matching-worker       0            0        0       –          0      0     0",
                    "ekyc.requested.bulk            face-matching-worker       0            0        0       –          0      0     0",
                    "ekyc.completed                 –                          0            –        –       –          –      –     –",
                    "mail.requested                 identity-api               0            0        0       –          0      0     0",
                    "image.requested                image-worker               0            0        0       –          0      0     0",
                    "image.requested.bulk           image-worker               0            0        0       –          0      0     0",
                    "photo.uploaded                 image-worker               0            0        0       –          0      0     0",
                    "image.progress                 –                          0            –        –       –          –      –     –",
                    "image.completed                –                          0            –        –       –          –      –     –",
                    "notification.requested         token-registry             0            0        0       –          0      0     0",
                    "notification.addressed.urgent  notifier                   0            0        0       –          0      0     0",
                    "notification.addressed.normal  notifier                   0            0        0       –          0      0     0",
                    "notification.addressed.bulk    notifier                   0            0        0       –          0      0     0",
                    "notification.settled           token-registry             0            0        0       –          0      0     0",
                    "user.erased                    identity-api               0            0        0       –          0      0     0",
                    "user.erased                    face-matching-worker       0            0        0       –          0      0     0",
                    "user.erased                    image-worker               0            0        0       –          0      0     0",
                    "user.erased                    token-registry             0            0        0       –          0      0     0",
                    "user.erased                    notifier                   0            0        0       –          0      0     0",
                    "",
                    "Outbox: nothing pending.",
                    "",
                    "Normal: UNDELIVERED and PENDING fall back to 0, OLDEST stays under 10s, RETRY and DEAD are 0, each group has a "
                        + "consumer, and the outbox waits for under 10s. LENGTH counts settled entries too.",
                    "Not normal: No consumer reads for face-matching-worker, identity-api, image-worker, token-registry, notifier: start "
                        + "the service, or see in its log why it ended.",
                ])
        }
    }

    @Test func `JSON has the backlog, the consumers and the failures`() async throws {
        try await TestBus.with { bus in
            try await bus.deadLetter([ekyc()])
            try await bus.append([ekyc()])
            try await bus.deliver("ekyc.requested")
            try await bus.append([ekyc(), ekyc()])
            try await bus.append([EkycCompleted(sessionID: UUID(), event: .signIn, succeeded: true)])

            let result = await heliographctl(["streams", "--json"] + bus.arguments)
            let streams = try #require(try parse(result.results)["streams"] as? [[String: Any]])
            let requested = try #require(streams.first { $0["stream"] as? String == "ekyc.requested" })
            #expect(requested["group"] as? String == "face-matching-worker")
            #expect(requested["length"] as? Int == 3)
            #expect(requested["appended"] as? Int == 3)
            #expect(requested["undelivered"] as? Int == 2)
            #expect(requested["pending"] as? Int == 1)
            #expect(requested["retrying"] as? Int == 0)
            #expect(requested["dead"] as? Int == 1)
            #expect(requested["undelivered_oldest_seconds"] is Double)
            let consumers = try #require(requested["consumers"] as? [[String: Any]])
            #expect(consumers.map { $0["name"] as? String } == ["c1"])
            #expect(consumers.map { $0["pending"] as? Int } == [1])
            let completed = try #require(streams.first { $0["stream"] as? String == "ekyc.completed" })
            #expect(completed["group"] == nil)
            #expect(completed["length"] as? Int == 1)
        }
    }

    @Test func `the outbox is summarised below the table`() async throws {
        try await TestBus.with { bus in
            try await bus.database.psql(
                """
                INSERT INTO outbox (stream, message_id, key, type, version, occurred_at, body, created_at)
                VALUES ('ekyc.requested', gen_random_uuid(), 'k', 'ekyc.requested', 1, now(), '{}', now() - interval '125 s')
                """)
            let result = await heliographctl(["streams"] + bus.arguments)
            #expect(result.results.contains { $0.contains(/^Outbox: 1 waiting for the relay, the oldest for [23]m/) })
            #expect(result.results.last?.hasPrefix("Not normal: The outbox has waited for the relay for ") == true)
        }
    }

    @Test func `--watch prints one table after the other, and with --json one document on each line`() async throws {
        try await TestBus.with { bus in
            let watch = ["streams", "--watch", "--interval", "100ms", "--count", "3"] + bus.arguments
            #expect(await heliographctl(watch).results.count { $0.hasPrefix("STREAM ") } == 3)
            let documents = await heliographctl(watch + ["--json"]).results
            #expect(documents.count == 3)
            for document in documents { _ = try parse([document]) }
        }
    }

    @Test(arguments: [["--interval", "5s"], ["--count", "0", "--watch"], ["--watch", "--interval", "soon"]])
    func `wrong arguments exit with 64`(_ arguments: [String]) async {
        #expect(await heliographctl(["streams"] + arguments).exitCode == 64)
    }

    @Test func `an unreachable Redis has its own exit code`() async throws {
        let result = await heliographctl("streams", "--redis-url", "unix:///nowhere.sock", "--database-url", "postgresql://x")
        #expect(result.exitCode == 75)
        #expect(result.notes.first?.hasPrefix("Redis cannot be reached at unix:///nowhere.sock") == true)
    }

    private func parse(_ lines: [String]) throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: Data(lines.joined(separator: "\n").utf8))
        return try #require(object as? [String: Any])
    }
}
