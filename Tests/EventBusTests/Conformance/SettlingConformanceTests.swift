import TestSupport
import Testing
import WireFormat

@testable import EventBus

/// The guarantees of every transport for settling and maintenance; the same tests run on all of them.
@Suite("A transport that settles entries", .timeLimit(.minutes(3)))
struct SettlingConformanceTests {
    /// Makes a transport with messages 1 to `count` delivered to consumer `c` of group `g`.
    private func delivered(_ kind: TransportKind, _ count: Int) async throws -> (any TestTransport, [EntryID]) {
        let transport = try await kind.transport()
        try await transport.createGroup("g", on: testStream)
        let ids = try await transport.append(1...count)
        let reader = try await transport.openReader(consumer("c"))
        _ = try await reader.read(count: count, wait: .seconds(60), acknowledging: [])
        await reader.close()
        return (transport, ids)
    }

    private func read(_ transport: any EventTransport, _ name: String = "c", group: String = "g") async throws -> [DeliveredEntry] {
        let reader = try await transport.openReader(consumer(name, group))
        let entries = try await reader.read(count: 100, wait: .milliseconds(1), acknowledging: []).entries
        await reader.close()
        return entries
    }

    @Test(arguments: TransportKind.allCases)
    func `acknowledges with a read only what the consumer still holds`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        try await transport.createGroup("g", on: testStream)
        let ids = try await transport.append(1...6)
        let reader = try await transport.openReader(consumer("slow"))
        func gone(acknowledging ids: [EntryID]) async throws -> [EntryID]? {
            try await reader.read(count: 9, wait: .milliseconds(1), acknowledging: ids).gone
        }
        #expect(try await gone(acknowledging: []) == [])
        #expect(try await gone(acknowledging: [ids[0]]) == [])
        let claimed = try await transport.claim(ClaimRequest(minIdle: .zero, count: 2), for: consumer("other")).entries.map(\.id)
        #expect(claimed == [ids[1], ids[2]])
        #expect(try await gone(acknowledging: [ids[1], ids[3]]) == [ids[1]])
        #expect(try await gone(acknowledging: [ids[2], ids[4]]) == [ids[2]])
        #expect(try await transport.acknowledge(claimed, by: consumer("other")) == [])
        #expect(try await transport.status(of: group("g")).pending == 1)
        await reader.close()
    }

    @Test(arguments: TransportKind.allCases)
    func `refuses to settle entries that another consumer holds`(_ kind: TransportKind) async throws {
        let (transport, ids) = try await delivered(kind, 3)
        let zombie = consumer("zombie")
        #expect(try await transport.keep(ids, by: zombie) == ids)
        #expect(try await transport.release(ids, by: zombie) == ids)
        #expect(try await transport.retry(ids.map { DelayedRetry(id: $0, failures: 1, delay: .zero) }, by: zombie) == ids)
        let status = try await transport.status(of: group("g"))
        #expect((status.pending, status.retrying) == (3, 0))
    }

    @Test(arguments: TransportKind.allCases)
    func `returns the acknowledged entries that another consumer has claimed`(_ kind: TransportKind) async throws {
        let (transport, ids) = try await delivered(kind, 5)
        let claimed = try await transport.claim(ClaimRequest(minIdle: .zero, count: 2), for: consumer("heir"))
        #expect(claimed.entries.map(\.id) == Array(ids[..<2]))
        #expect(try await transport.acknowledge(ids, by: consumer("c")) == Array(ids[..<2]))
        #expect(try await transport.pendingCount(of: group("g")) == 2)
    }

    @Test(arguments: TransportKind.allCases)
    func `lets a consumer that has lost entries reconnect`(_ kind: TransportKind) async throws {
        let (transport, _) = try await delivered(kind, 1)
        _ = try await transport.claim(ClaimRequest(minIdle: .zero, count: 1), for: consumer("heir"))
        try await transport.append([2])
        #expect(try await read(transport).map { try number(of: $0) } == [2])
    }

    @Test(arguments: TransportKind.allCases)
    func `delivers a due retry to its group only, with its failures`(_ kind: TransportKind) async throws {
        let (transport, ids) = try await delivered(kind, 2)
        let retries = [
            DelayedRetry(id: ids[0], failures: 4, delay: .zero), DelayedRetry(id: ids[1], failures: 1, delay: .seconds(600)),
        ]
        #expect(try await transport.retry(retries, by: consumer("c")).isEmpty)
        #expect(try await transport.status(of: group("g")).retrying == 2)
        let resumed = try await transport.resumeRetries(of: group("g"), limit: 10)
        #expect(resumed.count == 1)
        #expect(try #require(resumed.nextIn) > .seconds(500))
        let entry = try #require(try await read(transport).first)
        #expect(try number(of: entry) == 1)
        #expect((entry.failures, entry.deliveryCount, entry.onlyGroups) == (4, 1, ["g"]))
        #expect(try await transport.pendingCount(of: group("g")) == 1)
    }

    @Test(arguments: TransportKind.allCases)
    func `makes one retry of two copies of a message, with the larger number of failures`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        try await transport.createGroup("g", on: testStream)
        let copy = try message(1)
        let ids = try await transport.append([copy, copy]).map { try $0.get() }
        #expect(try await read(transport).count == 2)
        _ = try await transport.retry([DelayedRetry(id: ids[0], failures: 11, delay: .zero)], by: consumer("c"))
        _ = try await transport.retry([DelayedRetry(id: ids[1], failures: 1, delay: .zero)], by: consumer("c"))
        #expect(try await transport.resumeRetries(of: group("g"), limit: 10).count == 1)
        #expect(try await read(transport).map(\.failures) == [11])
    }

    @Test(arguments: TransportKind.allCases)
    func `lets a consumer claim released entries even if the group was not maintained`(_ kind: TransportKind) async throws {
        let (transport, ids) = try await delivered(kind, 1)
        _ = try await transport.release(ids, by: consumer("c"))
        let claimed = try await transport.claim(ClaimRequest(minIdle: .seconds(600), count: 9), for: consumer("heir"))
        #expect(claimed.entries.map(\.id) == ids)
    }

    @Test(arguments: TransportKind.allCases)
    func `keeps scheduled retries when the stream is trimmed`(_ kind: TransportKind) async throws {
        let (transport, ids) = try await delivered(kind, 3)
        _ = try await transport.retry([DelayedRetry(id: ids[0], failures: 1, delay: .zero)], by: consumer("c"))
        _ = try await transport.acknowledge(Array(ids[1...]), by: consumer("c"))
        #expect(try await transport.trim(testStream, ungroupedAge: nil) == 3)
        #expect(try await transport.resumeRetries(of: group("g"), limit: 10).count == 1)
        #expect(try await read(transport).map { try number(of: $0) } == [1])
    }

    @Test(arguments: TransportKind.allCases)
    func `gives released entries to the next claim, without counting the released delivery`(_ kind: TransportKind) async throws {
        let (transport, ids) = try await delivered(kind, 2)
        let request = ClaimRequest(holder: GroupConsumer.released, minIdle: .zero, count: 9, maxPulseAge: .zero)
        #expect(try await transport.claim(request, for: consumer("heir")).entries.isEmpty)
        #expect(try await transport.release(ids, by: consumer("c")).isEmpty)
        #expect(try await transport.status(of: group("g")).pending == 2)
        let early = try await transport.claim(request, for: consumer("heir"))
        #expect(early.entries.map(\.id) == ids)
        #expect(early.entries.allSatisfy { $0.deliveryCount == 1 })
    }

    @Test(arguments: TransportKind.allCases)
    func `trims to what the slowest group needs`(_ kind: TransportKind) async throws {
        let (transport, ids) = try await delivered(kind, 5)
        try await transport.createGroup("slow", on: testStream)
        _ = try await transport.acknowledge(ids, by: consumer("c"))
        #expect(try await transport.trim(testStream, ungroupedAge: .zero) == 0)
        let slow = try await transport.openReader(consumer("c", "slow"))
        _ = try await slow.read(count: 4, wait: .seconds(60), acknowledging: [])
        _ = try await transport.acknowledge([ids[0], ids[2]], by: consumer("c", "slow"))
        #expect(try await transport.trim(testStream, ungroupedAge: .zero) == 1)
        #expect(try await slow.read(count: 9, wait: .seconds(60), acknowledging: []).entries.count == 1)
        await slow.close()
        #expect(try await transport.status(of: group("slow")).length == 4)
    }

    @Test(arguments: TransportKind.allCases)
    func `keeps nothing that all groups have settled, and counts what follows`(_ kind: TransportKind) async throws {
        let (transport, ids) = try await delivered(kind, 2)
        #expect(try await transport.trim(testStream, ungroupedAge: nil) == 0, "the first is pending")
        _ = try await transport.acknowledge(ids, by: consumer("c"))
        try await transport.createGroup("slow", on: testStream)
        #expect(try await transport.trim(testStream, ungroupedAge: nil) == 0, "another group has read nothing")
        let slow = try await transport.openReader(consumer("c", "slow"))
        _ = try await slow.read(count: 9, wait: .seconds(60), acknowledging: [])
        _ = try await transport.acknowledge([ids[0]], by: consumer("c", "slow"))
        #expect(try await transport.trim(testStream, ungroupedAge: nil) == 1, "the last is pending")
        _ = try await transport.acknowledge([ids[1]], by: consumer("c", "slow"))
        #expect(try await transport.trim(testStream, ungroupedAge: nil) == 1)
        #expect(try await transport.status(of: group("slow")).length == 0)
        for round in 1...2 {
            try await transport.append(round...round)
            for name in ["g", "slow"] {
                #expect(try await transport.status(of: group(name)).undelivered == round, "\(name)")
            }
        }
        #expect(try await slow.read(count: 1, wait: .seconds(60), acknowledging: []).entries.count == 1)
        #expect(try await transport.status(of: group("slow")).undelivered == 1)
        #expect(try await transport.status(of: group("g")).undelivered == 2)
        #expect(try await transport.trim(testStream, ungroupedAge: nil) == 0)
        await slow.close()
    }

    @Test(arguments: TransportKind.allCases)
    func `trims a stream without groups only by age, and only if requested`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        try await transport.append(1...3)
        #expect(try await transport.trim(testStream, ungroupedAge: nil) == 0)
        #expect(try await transport.trim(testStream, ungroupedAge: .seconds(600)) == 0)
        #expect(try await transport.trim("none", ungroupedAge: .zero) == 0)
    }

    @Test(arguments: TransportKind.allCases)
    func `returns the status of a group`(_ kind: TransportKind) async throws {
        let (transport, ids) = try await delivered(kind, 4)
        try await transport.append(5...7)
        _ = try await transport.acknowledge([ids[0]], by: consumer("c"))
        let status = try await transport.status(of: group("g"))
        #expect((status.length, status.undelivered, status.pending) == (7, 3, 3))
        #expect(status.oldestPendingAge != nil && status.oldestUndeliveredAge != nil)
        #expect(status.consumers.map(\.name) == ["c"] && status.consumers.map(\.pending) == [3])
        let none = try await transport.status(of: StreamGroup(stream: "none", name: "g"))
        #expect((none.length, none.undelivered, none.pending) == (0, 0, 0))
    }

    @Test(arguments: TransportKind.allCases)
    func `deletes idle consumers without pending entries`(_ kind: TransportKind) async throws {
        let (transport, ids) = try await delivered(kind, 2)
        _ = try await transport.claim(ClaimRequest(minIdle: .zero, count: 1), for: consumer("other"))
        _ = try await transport.acknowledge([ids[0]], by: consumer("other"))
        #expect(try await transport.retireIdle(of: group("g"), idle: .seconds(600)) == 0)
        try await eventually("the idle one is gone") {
            try await transport.retireIdle(of: group("g"), idle: .zero) == 1
        }
        #expect(try await transport.status(of: group("g")).consumers.map(\.name) == ["c"])
    }
}
