import Foundation
import TestSupport
import Testing

/// Tests the whole system as real processes when all data of Redis are deleted during its work.
@Suite struct WipedRedisTests {
    private static let sessionCount = 200

    @Test func `each of 200 sessions ends with one delivery although Redis is wiped twice`() async throws {
        let stack = try await Stack.start()
        // The worker is stopped while the sessions are created, so that all of them are in the stream when it begins.
        stack.signal("face-matching-worker", SIGSTOP)
        try await Self.signIn(Self.sessionCount, stack)
        #expect(try await stack.database.psql("SELECT count(*) FROM sessions WHERE state = 'received'") == "\(Self.sessionCount)")
        stack.signal("face-matching-worker", SIGCONT)

        // Redis is wiped once while most sessions wait, and once when half of them have ended.
        for share in [Self.sessionCount / 10, Self.sessionCount / 2] {
            try await eventually(within: .seconds(300), "\(share) sessions end") {
                try await Self.endedCount(stack) >= share ? () : nil
            }
            try await stack.redis.cli("FLUSHALL")
        }

        try await eventually(within: .seconds(300), "every session ends; worker: \(stack.tail(of: "face-matching-worker"))") {
            try await Self.endedCount(stack) == Self.sessionCount ? () : nil
        }
        try await eventually("every session has a settled delivery; notifier: \(stack.tail(of: "notifier"))") {
            try await stack.database.psql("SELECT count(*) FROM delivery_ledger WHERE state = 'accepted'") == "\(Self.sessionCount)"
                ? () : nil
        }
        let states = try await stack.database.psql("SELECT DISTINCT state, reason FROM sessions")
        #expect(states == "failed|no_match")
        let deliveries = try await stack.database.psql(
            """
            SELECT min(deliveries), max(deliveries), count(*) FROM (
                SELECT s.id, count(d.id) AS deliveries FROM sessions s
                LEFT JOIN notifications n ON n.dedupe_key = 'ekyc:' || s.id
                LEFT JOIN delivery_ledger d ON d.notification_id = n.id GROUP BY s.id) AS of_session
            """)
        #expect(deliveries == "1|1|\(Self.sessionCount)")
        try await eventually("the photos are gone") { stack.blobCount() == 0 }
    }

    /// Uploads three photos for each of `count` sign-ins with unknown e-mails, each from a phone of its own.
    private static func signIn(_ count: Int, _ stack: Stack) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                // Eight concurrent uploads are what a small machine can handle.
                if number >= 8 { try await group.next() }
                group.addTask {
                    let phone = try await Phone.make(stack)
                    let answer = try await phone.signIn(email: "nobody-\(UUID().uuidString)@example.org", faces: Photos.otherFace)
                    #expect(answer.status == 200)
                }
            }
            try await group.waitForAll()
        }
    }

    private static func endedCount(_ stack: Stack) async throws -> Int {
        Int(try await stack.database.psql("SELECT count(*) FROM sessions WHERE state IN ('succeeded', 'failed', 'expired')")) ?? 0
    }
}
