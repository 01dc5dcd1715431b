import Accounts
import Foundation
import HeliographCrypto
import PostgresClient
import Schema
import TestSupport
import Testing

@testable import ServiceDefaults

@Suite struct SealedValueGaugesTests {
    /// The gauges of an instance of identity-api.
    private struct InstanceGauges {
        let registry = PrometheusRegistry()
        let gauges: SealedValueGauges

        init(_ postgres: PostgresClient) {
            gauges = SealedValueGauges(postgres: postgres, of: .identityAPI, metrics: PrometheusMetricsFactory(registry: registry))
        }

        func shows(_ count: Int, _ keyID: String) -> Bool {
            registry.exposition().contains(#"sealed_values{key_id="\#(keyID)",ring="accounts"} \#(count).0"#)
        }
    }

    private func sealed(_ id: String) throws -> [UInt8] {
        try Sealer(keyRing: try KeyRing(parsing: KeyRing.generateText(id: id))).seal([1], context: [])
    }

    @Test func `one instance samples, all record it by ring and key, and a key that seals nothing any more is 0`() async throws {
        try await withStorage { postgres in
            var ids: [UUID] = []
            for number in 1...2 {
                ids.append(try await postgres.makeUser(emailLookup: SHA256.hash("\(number)"), emailSealed: try sealed("k1")).id)
            }
            let users = UserRepository(postgres)
            _ = try await users.setDisplayName(try sealed("k2"), of: ids[0])
            let (first, second) = (InstanceGauges(postgres), InstanceGauges(postgres))
            try await first.gauges.record(olderThan: .zero)
            #expect(first.shows(2, "k1") && first.shows(1, "k2"))

            _ = try await users.setDisplayName(nil, of: ids[0])
            try await second.gauges.record(olderThan: .seconds(3_600))
            #expect(second.shows(2, "k1") && second.shows(1, "k2"), "it records what the first one has sampled")
            try await second.gauges.record(olderThan: .zero)
            #expect(second.shows(2, "k1") && second.shows(0, "k2"))
        }
    }

    @Test func `the current key of a service is recorded before it has sealed anything`() async throws {
        try await withStorage { postgres in
            let registry = PrometheusRegistry()
            let sealer = Sealer(keyRing: try KeyRing(parsing: KeyRing.generateText(id: "k7")))
            let gauges = SealedValueGauges(
                postgres: postgres, of: .identityAPI, sealers: [.accounts: sealer],
                metrics: PrometheusMetricsFactory(registry: registry))
            try await gauges.record(olderThan: .zero)
            #expect(registry.exposition().contains(#"sealed_values{key_id="k7",ring="accounts"} 0.0"#))
        }
    }

    @Test(arguments: [ServiceRole.identityAPI, .tokenRegistry]) func `a service counts with its own role`(role: ServiceRole) async throws {
        try await withServiceRoles { database, prefix in
            try await withClient(of: database, as: role, prefix: prefix) { postgres in
                try await SealedValueGauges(postgres: postgres, of: role).record(olderThan: .zero)
            }
        }
    }
}
