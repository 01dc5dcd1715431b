import PostgresClient
import TestSupport
import Testing
import WireFormat

@testable import FaceMatchingWorker

/// Tests of what a decision means for the other sessions of the address.
struct TurnTests {
    @Test func `a decision records the time of the engines and requests the next session of its address, once`() async throws {
        try await HandlerFixture.with { fixture in
            let (first, second) = (try await fixture.upload(.signIn), try await fixture.upload(.signIn))
            try await fixture.postgres.execute(
                """
                UPDATE sessions SET address_key = sha256('a'), site_key = sha256('a'), lane = 'bulk', awaits_turn = (id = \(second.session))
                """)
            for _ in 0..<2 { _ = try await fixture.deliver(first) }
            let requests = try await fixture.postgres.query(
                "SELECT stream, convert_from(body, 'UTF8')::jsonb ->> 'session_id' AS session FROM outbox WHERE type = 'ekyc.requested'")
            #expect(requests.count == 1)
            #expect(try requests[0].decode("stream", as: String.self) == "ekyc.requested.bulk")
            #expect(try requests[0].decode("session", as: String.self) == second.session.wireString)
            let costs = try await fixture.postgres.query("SELECT cost_ms > 0 AS measured FROM sessions ORDER BY completed_at NULLS LAST")
            #expect(try costs.column("measured", as: Bool.self) == [true, false])
        }
    }
}
