import Logging
import PostgresClient
import Storage
import Testing
import WireFormat

@testable import TokenRegistry

struct RetentionSweeperTests {
    @Test func `a sweep takes what is old from every table, batch after batch, and leaves the rest`() async throws {
        try await Registry.run { registry in
            let keep = try await registry.makeSession(token: nil)
            for _ in 0..<5 {
                let id = try await registry.makeSession(token: nil)
                try await registry.client.execute(
                    "UPDATE sessions SET expires_at = now() - interval '1 second' WHERE id = \(id)")
                try await registry.request(.make(.session(id)))
            }
            try await registry.client.execute("UPDATE notifications SET created_at = now() - interval '31 days'")
            try await registry.request(.make(.session(keep)))

            var configuration = RetentionSweeper.Configuration()
            configuration.batchRows = 2
            let sweeper = RetentionSweeper(
                postgres: registry.client, configuration: configuration, logger: registry.logger)
            let deleted = try await sweeper.sweep()
            #expect(deleted["sessions"] == 5)
            #expect(deleted["notifications"] == 5)
            #expect(deleted["inbox"] == 0 && deleted["push_installs"] == 0 && deleted["access_tokens"] == 0)
            #expect(try await sweeper.sweep().values.reduce(0, +) == 0)
            #expect(try await SessionRepository(registry.client).find(id: keep) != nil)
        }
    }
}
