import Accounts
import FoundationEssentials
import PostgresClient
import TestSupport
import Testing
import WireFormat

/// Random sequences of operations on a session, compared step by step with a model of ten lines.
struct SessionStateMachineTests {
    private struct Model {
        var state = SessionState.received
        var redeemed = false
        let event: EkycEvent

        mutating func begin() -> Bool {
            guard !state.isTerminal else { return false }
            state = .processing
            return true
        }

        mutating func end(as terminal: SessionState) -> Bool {
            guard !state.isTerminal else { return false }
            state = terminal
            return true
        }

        mutating func redeem() -> Bool {
            guard state == .succeeded, event == .signIn, !redeemed else { return false }
            redeemed = true
            return true
        }
    }

    @Test(.storage) func `random sequences of operations agree with the model`() async throws {
        var random = SeededGenerator(seed: 2026)
        for _ in 0..<60 {
            let event: EkycEvent = Bool.random(using: &random) ? .signIn : .signUp
            var model = Model(event: event)
            let id = try await sessions.insert(.make(event)).id
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                switch Int.random(in: 0..<5, using: &random) {
                case 0: #expect(try await (sessions.beginProcessing(id: id) != nil) == model.begin())
                case 1:
                    #expect(try await sessions.complete(id: id, outcome: .succeeded) == model.end(as: .succeeded))
                case 2:
                    #expect(
                        try await sessions.complete(id: id, outcome: .failed(.lowQuality)) == model.end(as: .failed))
                case 3:
                    #expect(try await (sessions.redeem(id: id, tokenHash: hash(1)) != nil) == model.redeem())
                default:
                    try await client.execute("UPDATE sessions SET deadline_at = now() WHERE id = \(id)")
                    let expired = try await sessions.expireOverdue(limit: 10).map(\.id) == [id]
                    #expect(expired == model.end(as: .expired))
                    try await client.execute(
                        "UPDATE sessions SET deadline_at = now() + interval '1 minute' WHERE id = \(id)")
                }
                let session = try #require(try await sessions.find(id: id))
                #expect(session.state == model.state)
                #expect((session.completedAt != nil) == model.state.isTerminal)
                #expect((session.redeemedAt != nil) == model.redeemed)
            }
        }
    }

    @Test(.storage) func `the database refuses an inconsistent session`() async throws {
        let id = try await sessions.insert(.make(.signUp)).id
        let lies = [
            "state = 'succeeded'", "completed_at = now()", "state = 'failed', completed_at = now()",
            "reason = 'no_face'", "state = 'done'", "redeemed_at = now()",
            "state = 'succeeded', completed_at = now(), redeemed_at = now()", "photos = '{}'",
        ]
        for lie in lies {
            let error = await #expect(throws: PostgresError.self) {
                try await client.execute("UPDATE sessions SET \(unescaped: lie) WHERE id = \(id)")
            }
            #expect(error?.sqlState == "23514", "\(lie)")
        }
    }
}
