import FaultLedger
import PostgresClient
import TestSupport
import Testing
import WireFormat

/// Tests the counts of the ledger, on which the results of the fault matrix depend.
@Suite struct LedgerTests {
    private static func withLedger(_ body: (Ledger) async throws -> Void) async throws {
        try await withEmptyDatabase { database in
            try await database.psql(Ledger.schema)
            try await withClient(of: database) { try await body(Ledger($0)) }
        }
    }

    @Test func `one effect for each promised one is an even balance`() async throws {
        try await Self.withLedger { ledger in
            let ids = [UUIDv7.generate(), UUIDv7.generate()]
            try await ledger.publish(ids, kind: .chained)
            try await ledger.takeEffect(ids, stage: .work, delivery: 1)
            try await ledger.takeEffect(ids, stage: .done, delivery: 1)
            let balance = try await ledger.balance()
            #expect(balance == Balance(published: 2, effects: 4, lost: 0, duplicated: 0, rerun: 0))
            #expect(balance.isEven)
        }
    }

    @Test func `a missing effect is lost, also the second one of a chain`() async throws {
        try await Self.withLedger { ledger in
            let (begun, untouched) = (UUIDv7.generate(), UUIDv7.generate())
            try await ledger.publish([begun, untouched], kind: .chained)
            try await ledger.takeEffect([begun], stage: .work, delivery: 1)
            #expect(try await ledger.balance().lost == 3)
        }
    }

    @Test func `a repeated or unpromised effect is a duplicate`() async throws {
        try await Self.withLedger { ledger in
            let (twice, poison) = (UUIDv7.generate(), UUIDv7.generate())
            try await ledger.publish([twice], kind: .single)
            try await ledger.publish([poison], kind: .poison)
            try await ledger.takeEffect([twice], stage: .work, delivery: 1)
            try await ledger.takeEffect([twice], stage: .work, delivery: 2)
            try await ledger.takeEffect([poison, UUIDv7.generate()], stage: .work, delivery: 1)
            #expect(try await ledger.balance().duplicated == 3)
            #expect(try await ledger.balance().lost == 0)
        }
    }

    @Test func `a second handler run is counted, but is not a duplicate`() async throws {
        try await Self.withLedger { ledger in
            let id = UUIDv7.generate()
            try await ledger.publish([id], kind: .single)
            for delivery in 1...2 { try await ledger.start(HandlerRun(id: id, stage: .work, delivery: delivery)) }
            try await ledger.takeEffect([id], stage: .work, delivery: 2)
            #expect(try await ledger.balance() == Balance(published: 1, effects: 1, lost: 0, duplicated: 0, rerun: 1))
            #expect(try await ledger.redeliveries() == 1)
        }
    }
}
