import EventBus
import Foundation
import TestSupport
import Testing
import WireFormat

/// The guarantees of every transport; the same tests run on all of them.
@Suite("A transport", .timeLimit(.minutes(3)))
struct TransportConformanceTests {
    private func read(
        _ reader: any GroupReader, _ count: Int = 100, wait: Duration = .milliseconds(1), acknowledging: [EntryID] = []
    ) async throws -> [DeliveredEntry] {
        try await reader.read(count: count, wait: wait, acknowledging: acknowledging).entries
    }

    @Test(arguments: TransportKind.allCases)
    func `delivers the entries of a stream in order`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        try await transport.createGroup("g", on: testStream)
        let ids = try await transport.append(1...50)
        #expect(ids == ids.sorted())
        let reader = try await transport.openReader(consumer("c", "g"))
        let first = try await read(reader, 20)
        let second = try await read(reader, 100)
        #expect(try (first + second).map { try number(of: $0) } == Array(1...50))
        #expect((first + second).map(\.id) == ids)
        #expect(first.count == 20)
        #expect(first.allSatisfy { $0.deliveryCount == 1 })
        await reader.close()
    }

    @Test(arguments: TransportKind.allCases)
    func `delivers all entries from the first on to a late group`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        try await transport.append(1...3)
        try await transport.createGroup("late", on: testStream)
        let reader = try await transport.openReader(consumer("c", "late"))
        #expect(try await read(reader).count == 3)
        await reader.close()
    }

    @Test(arguments: TransportKind.allCases)
    func `creates a group once, however often that is requested`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        try await transport.createGroup("g", on: testStream)
        try await transport.append(1...3)
        let reader = try await transport.openReader(consumer("c", "g"))
        _ = try await read(reader)
        try await transport.createGroup("g", on: testStream)
        #expect(try await read(reader).isEmpty)
        #expect(try await transport.pendingCount(of: group("g")) == 3)
        await reader.close()
    }

    @Test(arguments: TransportKind.allCases)
    func `keeps groups apart`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        for group in ["one", "two"] { try await transport.createGroup(group, on: testStream) }
        try await transport.append(1...4)
        let one = try await transport.openReader(consumer("c", "one"))
        let two = try await transport.openReader(consumer("c", "two"))
        let entries = try await read(one)
        #expect(try await transport.acknowledge(entries.map(\.id), by: consumer("c", "one")).isEmpty)
        #expect(try await transport.pendingCount(of: group("one")) == 0)
        #expect(try await read(two).count == 4)
        #expect(try await transport.pendingCount(of: group("two")) == 4)
        await one.close()
        await two.close()
    }

    @Test(arguments: TransportKind.allCases)
    func `delivers an entry to one consumer of a group`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        try await transport.createGroup("g", on: testStream)
        try await transport.append(1...10)
        let one = try await transport.openReader(consumer("one", "g"))
        let two = try await transport.openReader(consumer("two", "g"))
        let first = try await read(one, 4)
        let second = try await read(two, 100)
        #expect(Set(first.map(\.id)).isDisjoint(with: second.map(\.id)))
        #expect(first.count + second.count == 10)
        await one.close()
        await two.close()
    }

    @Test(arguments: TransportKind.allCases)
    func `keeps an entry pending until it is acknowledged`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        try await transport.createGroup("g", on: testStream)
        try await transport.append(1...3)
        let reader = try await transport.openReader(consumer("c", "g"))
        let entries = try await read(reader)
        #expect(try await transport.pendingCount(of: group("g")) == 3)
        _ = try await read(reader, acknowledging: [entries[0].id])
        #expect(try await transport.pendingCount(of: group("g")) == 2)
        let rest = entries.dropFirst().map(\.id)
        #expect(try await transport.acknowledge(rest, by: consumer("c")).isEmpty)
        _ = try await transport.acknowledge(rest, by: consumer("c"))
        #expect(try await transport.pendingCount(of: group("g")) == 0)
        await reader.close()
    }

    @Test(arguments: TransportKind.allCases)
    func `carries any bytes`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        try await transport.createGroup("g", on: testStream)
        let bytes = (0...255).map { UInt8($0) } + Array("\r\n$-1\r\n\0".utf8)
        let large = [UInt8](repeating: 0xFE, count: EnvelopeLimits.maxBodyBytes)
        let values = [bytes, [], large]
        let outgoing = try values.map { body in
            let envelope = try EncodedEnvelope(
                id: UUIDv7.generate(), type: PhotoUploaded.type, version: 1, key: "k", occurredAt: Date(), body: body)
            return OutgoingEntry(stream: testStream, envelope: envelope)
        }
        for result in try await transport.append(outgoing) { _ = try result.get() }
        let reader = try await transport.openReader(consumer("c", "g"))
        #expect(try await read(reader).map { try $0.message.get().body } == values)
        await reader.close()
    }

    @Test(arguments: TransportKind.allCases)
    func `lets another consumer claim an idle entry, and counts the delivery`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        try await transport.createGroup("g", on: testStream)
        let ids = try await transport.append(1...5)
        let reader = try await transport.openReader(consumer("dead", "g"))
        _ = try await read(reader)
        await reader.close()
        func claim(_ minIdle: Duration, from cursor: EntryID = .zero, _ count: Int) async throws -> ClaimedEntries {
            try await transport.claim(
                ClaimRequest(minIdle: minIdle, cursor: cursor, count: count), for: consumer("heir"))
        }
        #expect(try await claim(.seconds(600), 10).entries.isEmpty)
        let first = try await claim(.zero, 3)
        #expect(first.entries.map(\.id) == Array(ids[..<3]))
        #expect(first.entries.allSatisfy { $0.deliveryCount == 2 })
        #expect(try first.entries.map { try number(of: $0) } == [1, 2, 3])
        #expect(first.cursor != .zero)
        let second = try await claim(.zero, from: first.cursor, 3)
        #expect(second.entries.map(\.id) == Array(ids[3...]))
        #expect(second.cursor == .zero)
        #expect(try await claim(.zero, 1).entries.first?.deliveryCount == 3)
    }

    @Test(arguments: TransportKind.allCases)
    func `lets no other consumer claim renewed entries, and returns those that were claimed`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        try await transport.createGroup("g", on: testStream)
        let ids = try await transport.append(1...2)
        let reader = try await transport.openReader(consumer("alive", "g"))
        _ = try await read(reader)
        let idle = Duration.seconds(300)
        try await transport.age(ids, of: consumer("alive"), to: idle)
        func keep() async throws -> [EntryID] {
            try await transport.keep(ids, by: consumer("alive"))
        }
        #expect(try await keep().isEmpty)
        let none = try await transport.claim(
            ClaimRequest(minIdle: idle, cursor: .zero, count: 9), for: consumer("other"))
        #expect(none.entries.isEmpty)
        _ = try await transport.claim(
            ClaimRequest(minIdle: .zero, cursor: .zero, count: 1), for: consumer("other"))
        #expect(try await keep() == [ids[0]])
        _ = try await transport.acknowledge([ids[1]], by: consumer("alive"))
        #expect(try await keep() == [ids[0]], "the other one is pending for nobody")
        await reader.close()
    }

    @Test(arguments: TransportKind.allCases)
    func `returns the messages that are absent from a group`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        try await transport.createGroup("g", on: testStream)
        let messages = try await transport.append(1...4).map { PublishedMessage(id: UUIDv7.generate(), entryID: $0) }
        let lost = PublishedMessage(id: UUIDv7.generate(), entryID: EntryID(milliseconds: 1, sequence: 0))
        func absent(_ name: String = "g") async throws -> [PublishedMessage] {
            try await transport.absent(messages + [lost], from: group(name))
        }
        let reader = try await transport.openReader(consumer("c", "g"))
        _ = try await read(reader, 2)
        _ = try await transport.acknowledge([messages[0].entryID], by: consumer("c"))
        #expect(try await absent() == [messages[0], lost])
        #expect(try await absent("new") == [lost])
        #expect(try await transport.absent(messages, from: StreamGroup(stream: "none", name: "g")) == messages)
        await reader.close()
    }

    @Test(arguments: TransportKind.allCases)
    func `deletes a consumer only if it has no pending entries`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        try await transport.createGroup("g", on: testStream)
        try await transport.append(1...2)
        let reader = try await transport.openReader(consumer("c", "g"))
        let entries = try await read(reader)
        #expect(try await !transport.retire(consumer("c", "g")))
        #expect(try await transport.pendingCount(of: group("g")) == 2)
        _ = try await transport.acknowledge(entries.map(\.id), by: consumer("c"))
        #expect(try await transport.retire(consumer("c", "g")))
        await reader.close()
    }

    @Test(arguments: TransportKind.allCases)
    func `wakes a waiting reader when an entry is appended`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        try await transport.createGroup("g", on: testStream)
        let reader = try await transport.openReader(consumer("c", "g"))
        async let entries = read(reader, wait: .seconds(120))
        try await transport.append([7])
        #expect(try await entries.count == 1)
        await reader.close()
    }

    @Test(arguments: TransportKind.allCases)
    func `ends a waiting read when it is interrupted, without losing entries`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        try await transport.createGroup("g", on: testStream)
        let reader = try await transport.openReader(consumer("c", "g"))
        let start = ContinuousClock.now
        let interrupter = Task {
            while !Task.isCancelled {
                await reader.interrupt()
                try? await Task.sleep(for: .milliseconds(5))
            }
        }
        #expect(try await read(reader, wait: .seconds(120)).isEmpty)
        interrupter.cancel()
        await interrupter.value
        #expect(ContinuousClock.now - start < .seconds(60))
        try await transport.append([1])
        try await eventually("an entry is read") { try await read(reader).first }
        await reader.close()
    }

    @Test(arguments: TransportKind.allCases)
    func `throws an error when a group is missing`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        try await transport.append([1])
        let reader = try await transport.openReader(consumer("c", "none"))
        await #expect {
            _ = try await read(reader)
        } throws: {
            ($0 as? EventBusError)?.code == .groupMissing
        }
        await reader.close()
    }

    @Test(arguments: TransportKind.allCases)
    func `delivers to each tail the entries of its stream from its opening on`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        try await transport.append([1, 2])
        let tails = [
            try await transport.openTail(stream: testStream), try await transport.openTail(stream: testStream),
        ]
        _ = try await transport.append([OutgoingEntry(stream: "other", fields: [(name: "n", value: [4])])])
        let ids = try await transport.append([3])
        for tail in tails {
            let entries = try await tail.read(count: 10, wait: .seconds(60))
            #expect(entries.map(\.id) == ids && entries.map(\.stream) == [testStream])
            #expect(try await tail.read(count: 10, wait: .milliseconds(1)).isEmpty)
            await tail.close()
        }
    }
}
