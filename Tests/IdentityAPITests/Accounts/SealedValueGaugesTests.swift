import Foundation
import HeliographCrypto
import PostgresClient
import ServiceDefaults
import Storage
import TestSupport
import Testing

@testable import IdentityAPI

@Suite struct SealedValueGaugesTests {
    @Test func `values are counted by ring and key, and a key that seals nothing any more is 0`() async throws {
        try await withStorage { postgres in
            let registry = PrometheusRegistry()
            let gauges = SealedValueGauges(postgres: postgres, metrics: PrometheusMetricsFactory(registry: registry))
            func sealed(_ id: String) throws -> [UInt8] {
                try Sealer(keyRing: try KeyRing(parsing: KeyRing.generateText(id: id))).seal([1], context: [])
            }
            let users = UserRepository(postgres)
            var ids: [UUID] = []
            for number in 1...2 {
                ids.append(try await postgres.makeUser(emailLookup: SHA256.hash("\(number)"), emailSealed: try sealed("k1")).id)
            }
            _ = try await users.setDisplayName(try sealed("k2"), of: ids[0])
            try await gauges.record()
            #expect(registry.exposition().contains(#"sealed_values{key_id="k1",ring="accounts"} 2.0"#))
            #expect(registry.exposition().contains(#"sealed_values{key_id="k2",ring="accounts"} 1.0"#))

            _ = try await users.setDisplayName(nil, of: ids[0])
            try await gauges.record()
            #expect(registry.exposition().contains(#"sealed_values{key_id="k2",ring="accounts"} 0.0"#))
        }
    }
}
