import Foundation
import TestSupport
import Testing

@Suite struct KilledWorkerTests {
    @Test func `a session whose worker is killed still ends once, with one push`() async throws {
        // The test has a stack of its own, because it freezes and kills the worker.
        let stack = try await Stack.start()
        let (phone, answer) = try await caughtInWork(stack)
        await stack.kill("face-matching-worker")
        try stack.launch("face-matching-worker")

        let record = try await phone.outcome(of: answer)
        #expect(record["state"].text == "succeeded", "reason \(record["reason"])")
        let pushes = try await phone.pushes()
        #expect(pushes.count == 1)
        // A push is at FCM before its delivery is settled, and photos are deleted after the commit.
        try await eventually("it was sent once") {
            try await stack.database.psql(
                "SELECT count(*), min(state), max(attempt) FROM delivery_ledger WHERE notification_id IN "
                    + "(SELECT id FROM notifications WHERE dedupe_key = 'ekyc:\(answer.sessionID)')") == "1|accepted|1"
        }
        try await eventually("the photos are gone") { stack.blobCount() == 0 }
    }

    /// Returns a session that the worker is processing, with the worker frozen at that point.
    ///
    /// The work takes a fraction of a second: when it ends before the signal arrives, another session is tried.
    private func caughtInWork(_ stack: Stack) async throws -> (Phone, Answer) {
        for _ in 0..<10 {
            let phone = try await Phone.make(stack)
            let answer = try await phone.signUp(email: "kill-\(UUID().uuidString)@example.org")
            #expect(answer.status == 200)
            let state = { try await stack.database.psql("SELECT state FROM sessions WHERE id = '\(answer.sessionID)'") }
            try await eventually("the worker takes the session") {
                try await state() == "received" ? nil : ()
            }
            stack.signal("face-matching-worker", SIGSTOP)
            if try await state() == "processing" { return (phone, answer) }
            stack.signal("face-matching-worker", SIGCONT)
        }
        throw DeadlineExceeded(description: "the worker was always faster than the signal")
    }
}
