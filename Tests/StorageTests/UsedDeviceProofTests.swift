import Accounts
import FoundationEssentials
import PostgresClient
import TestSupport
import Testing

@Suite struct UsedDeviceProofTests {
    @Test(.storage) func `of concurrent uses of a proof one counts`() async throws {
        let uses = try await race(8) { _ in
            try await UsedDeviceProofRepository(client).use(id: hash(1), expiresAt: Date(timeIntervalSinceNow: 60))
        }
        #expect(uses.count { $0 } == 1)
        #expect(try await UsedDeviceProofRepository(client).use(id: hash(2), expiresAt: Date(timeIntervalSinceNow: 60)))
    }

    @Test(.storage) func `a use that is rolled back did not happen`() async throws {
        struct Refused: Error {}
        await #expect(throws: Refused.self) {
            try await client.withTransaction { transaction in
                _ = try await UsedDeviceProofRepository(transaction).use(id: hash(1), expiresAt: Date(timeIntervalSinceNow: 60))
                throw Refused()
            }
        }
        #expect(try await UsedDeviceProofRepository(client).use(id: hash(1), expiresAt: Date(timeIntervalSinceNow: 60)))
    }

    @Test(.storage) func `uses of proofs that no instance takes are deleted`() async throws {
        let used = UsedDeviceProofRepository(client)
        _ = try await used.use(id: hash(1), expiresAt: Date(timeIntervalSinceNow: -1))
        _ = try await used.use(id: hash(2), expiresAt: Date(timeIntervalSinceNow: 60))
        #expect(try await used.deleteExpired(limit: 10) == 1)
        #expect(try await client.query("SELECT id FROM used_device_proofs").column("id", as: [UInt8].self) == [hash(2)])
    }
}
