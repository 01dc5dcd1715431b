import HeliographCrypto
import TestSupport
import Testing

@testable import Accounts
@testable import Schema

/// What each service can open: it needs the privilege to read a column, and the ring that seals it.
struct SealedAccessTests {
    /// Whether a role may read the bytes of a column.
    private func reads(_ role: ServiceRole, _ column: SealedColumn) -> Bool {
        role.grants.contains { grant in
            grant.table == column.table
                && grant.privileges.contains { $0.statement == .select && ($0.columns.isEmpty || $0.columns.contains(column.column)) }
        }
    }

    /// Run with `UPDATE_GOLDEN=1` to write the section again.
    @Test func `the documentation lists every sealed column that a service reads and opens`() throws {
        var lines = ["| Service | Ring | Columns |", "|---|---|---|"]
        for role in ServiceRole.allCases {
            for ring in KeyPurpose.sealing where ring.services.contains(role) {
                let columns = SealedColumn.all.filter { $0.purpose == ring && reads(role, $0) }
                guard !columns.isEmpty else { continue }
                lines.append("| \(role.rawValue) | \(ring.rawValue) | \(columns.map { "`\($0.name)`" }.joined(separator: ", ")) |")
            }
        }
        let section = lines.map { $0 + "\n" }.joined()
        #expect(try GeneratedSection("Sealed columns that a service opens", of: "docs/ARCHITECTURE.md").holds(section))
    }

    @Test(arguments: ServiceRole.allCases) func `no ring of a service opens what another ring has sealed`(role: ServiceRole) throws {
        let keys = TestKeys.settings()
        func sealer(_ purpose: KeyPurpose) throws -> Sealer {
            Sealer(keyRing: try KeyRing(parsing: try #require(keys[purpose.setting])))
        }
        let held = KeyPurpose.sealing.filter { $0.services.contains(role) }
        for column in SealedColumn.all {
            let context = Array(column.name.utf8)
            let sealed = try sealer(column.purpose).seal([1, 2, 3], context: context)
            let opened = try held.filter { ring in
                let sealer = try sealer(ring)
                do { return try sealer.open(sealed, context: context) == [1, 2, 3] } catch { return false }
            }
            #expect(opened == held.filter { $0 == column.purpose }, "\(role.rawValue) \(column.name)")
        }
    }

    @Test func `only identity-api has all rings, and token-registry has none`() {
        for role in ServiceRole.allCases where role != .identityAPI {
            #expect(KeyPurpose.allCases.count { $0.services.contains(role) } <= 1)
        }
        #expect(KeyPurpose.allCases.allSatisfy { $0.services.contains(.identityAPI) && !$0.services.contains(.tokenRegistry) })
    }

    @Test(arguments: SealedColumn.all.map(\.name)) func `the service that counts a sealed column may read it`(name: String) throws {
        let column = try #require(SealedColumn.all.first { $0.name == name })
        #expect(reads(column.counter, column))
    }
}
