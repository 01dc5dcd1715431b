import TestSupport
import Testing

@testable import EventBus

extension HeartbeatLimits {
    /// Limits by which a consumer is dead only without its lifeline, and then at the second heartbeat of another.
    static let test = HeartbeatLimits(silence: .seconds(600), lifelineGrace: .zero, stall: .seconds(600), holdOff: .zero)
}

/// Which consumers are taken for dead, tested on every transport.
@Suite("A consumer that holds entries", .timeLimit(.minutes(3)))
struct LivenessConformanceTests {
    private let holder = consumer("holder")
    private let witness = consumer("witness")

    /// Makes a transport with three messages that the holder has.
    private func delivered(_ kind: TransportKind) async throws -> (any TestTransport, [EntryID]) {
        let transport = try await kind.transport()
        try await transport.createGroup("g", on: testStream)
        let ids = try await transport.append(1...3)
        let reader = try await transport.openReader(holder)
        _ = try await reader.read(count: 3, wait: .seconds(60), acknowledging: [])
        await reader.close()
        return (transport, ids)
    }

    /// Has the witness send heartbeats until some holder's entries may be claimed.
    private func claimable(_ transport: any EventTransport, _ limits: HeartbeatLimits) async throws -> [String] {
        try await eventually("a consumer is found dead") {
            let names = try await transport.beat(limits, by: witness).claimable
            return names.isEmpty ? nil : names
        }
    }

    @Test(arguments: TransportKind.allCases)
    func `is dead when its lifeline has ended and no heartbeat follows`(_ kind: TransportKind) async throws {
        let (transport, ids) = try await delivered(kind)
        let lifeline = try await transport.openLifeline(holder)
        #expect(try await transport.beat(.test, by: holder).hasLifeline)
        await lifeline.close()
        #expect(try await claimable(transport, .test) == ["holder"])
        let request = ClaimRequest(holder: "holder", minIdle: .zero, count: 9, maxPulseAge: .seconds(600))
        let claimed = try await transport.claim(request, for: witness)
        #expect(claimed.entries.map(\.id) == ids)
        #expect(claimed.entries.map(\.deliveryCount) == [2, 2, 2])
        #expect(try await transport.beat(.test, by: witness).claimable.isEmpty)
    }

    @Test(arguments: TransportKind.allCases)
    func `lives with its lifeline`(_ kind: TransportKind) async throws {
        let (transport, _) = try await delivered(kind)
        let lifeline = try await transport.openLifeline(holder)
        _ = try await transport.beat(.test, by: holder)
        for _ in 0..<3 { #expect(try await transport.beat(.test, by: witness).claimable.isEmpty) }
        await lifeline.close()
    }

    @Test(arguments: TransportKind.allCases)
    func `lives on if a heartbeat follows in time after the end of its lifeline`(_ kind: TransportKind) async throws {
        let (transport, _) = try await delivered(kind)
        var limits = HeartbeatLimits.test
        limits.lifelineGrace = .seconds(600)
        let lifeline = try await transport.openLifeline(holder)
        _ = try await transport.beat(limits, by: holder)
        await lifeline.close()
        for _ in 0..<3 { #expect(try await transport.beat(limits, by: witness).claimable.isEmpty) }
        let end = try await eventually("the loss is noted") { try await transport.beat(limits, by: witness).graceEndsIn }
        #expect(end > .seconds(300) && end <= .seconds(600))
        _ = try await transport.beat(limits, by: holder)
        #expect(try await transport.beat(limits, by: witness).graceEndsIn == nil)
        // The loss that was noted before does not count any more.
        for _ in 0..<3 { #expect(try await transport.beat(.test, by: witness).claimable.isEmpty) }
    }

    @Test(arguments: TransportKind.allCases)
    func `lives without a lifeline if it had none at its last heartbeat`(_ kind: TransportKind) async throws {
        let (transport, _) = try await delivered(kind)
        #expect(try await !transport.beat(.test, by: holder).hasLifeline)
        for _ in 0..<3 { #expect(try await transport.beat(.test, by: witness).claimable.isEmpty) }
    }

    @Test(arguments: TransportKind.allCases)
    func `is dead after too long a silence, with or without a heartbeat before`(_ kind: TransportKind) async throws {
        let (transport, _) = try await delivered(kind)
        let lifeline = try await transport.openLifeline(holder)
        _ = try await transport.beat(.test, by: holder)
        var limits = HeartbeatLimits.test
        limits.silence = .milliseconds(1)
        #expect(try await claimable(transport, limits) == ["holder"])
        await lifeline.close()
        try await transport.createGroup("late", on: testStream)
        let reader = try await transport.openReader(consumer("mute", "late"))
        _ = try await reader.read(count: 3, wait: .seconds(60), acknowledging: [])
        await reader.close()
        #expect(try await transport.beat(limits, by: consumer("witness", "late")).claimable.isEmpty, "its silence begins now")
        try await eventually("it is found dead") {
            try await transport.beat(limits, by: consumer("witness", "late")).claimable == ["mute"]
        }
    }

    @Test(arguments: TransportKind.allCases)
    func `is not taken for dead right after a time in which no consumer could send a heartbeat`(_ kind: TransportKind) async throws {
        let (transport, _) = try await delivered(kind)
        let lifeline = try await transport.openLifeline(holder)
        _ = try await transport.beat(.test, by: holder)
        await lifeline.close()
        var limits = HeartbeatLimits.test
        // Any time since the last heartbeat counts as a stall.
        (limits.stall, limits.holdOff) = (.milliseconds(-1), .milliseconds(1))
        let answer = try await transport.beat(limits, by: witness)
        #expect(answer.claimable.isEmpty)
        #expect(answer.calm == .zero)
        limits.stall = .seconds(600)
        #expect(try await claimable(transport, limits) == ["holder"])
    }

    @Test(arguments: TransportKind.allCases)
    func `keeps its entries if the claim comes long after the heartbeat that allowed it`(_ kind: TransportKind) async throws {
        let (transport, _) = try await delivered(kind)
        _ = try await transport.beat(.test, by: witness)
        let start = ContinuousClock.now
        try await eventually("the server's clock has advanced") {
            _ = try await transport.status(of: holder.group)
            return ContinuousClock.now - start > .milliseconds(3)
        }
        for name in ["holder", nil] {
            let request = ClaimRequest(holder: name, minIdle: .zero, count: 9, maxPulseAge: .milliseconds(1))
            #expect(try await transport.claim(request, for: witness).entries.isEmpty)
        }
    }

    @Test(arguments: TransportKind.allCases)
    func `keeps its entries if the server stood still between the heartbeat that allowed the claim and the claim`(
        _ kind: TransportKind
    ) async throws {
        let (transport, _) = try await delivered(kind)
        // The first heartbeat of a group ends a stall, and so does that of another consumer just before the claim.
        _ = try await transport.beat(.test, by: witness)
        for name in ["holder", nil] {
            let request = ClaimRequest(holder: name, minIdle: .zero, count: 9, maxPulseAge: .seconds(600), minCalm: .seconds(300))
            #expect(try await transport.claim(request, for: witness).entries.isEmpty)
        }
    }

    @Test(arguments: TransportKind.allCases)
    func `loses only its own entries by its death`(_ kind: TransportKind) async throws {
        let (transport, ids) = try await delivered(kind)
        let more = try await transport.append(4...5)
        let reader = try await transport.openReader(consumer("other"))
        _ = try await reader.read(count: 2, wait: .seconds(60), acknowledging: [])
        await reader.close()
        let claimed = try await transport.claim(ClaimRequest(holder: "holder", minIdle: .zero, count: 9), for: witness)
        #expect(claimed.entries.map(\.id) == ids)
        #expect(try await transport.keep(more, by: consumer("other")).isEmpty)
    }

    @Test(arguments: TransportKind.allCases)
    func `has its work done by another when its process is gone, long before it would be silent or idle`(
        _ kind: TransportKind
    ) async throws {
        let (transport, _) = try await delivered(kind)
        let lifeline = try await transport.openLifeline(holder)
        _ = try await transport.beat(.test, by: holder)
        await lifeline.close()
        let processor = RecordingProcessor()
        var configuration = EventConsumerConfiguration.withoutClaims
        configuration.lifelineGrace = .milliseconds(300)
        try await withConsumer(transport, processor, group: "g", configuration: configuration) { await processor.waitFor(3) }
        #expect(processor.numbers.sorted() == [1, 2, 3])
    }

    @Test func `has a lifeline, and then a heartbeat, before it reads`() async throws {
        let transport = InMemoryEventTransport()
        _ = try await transport.append(1...1)
        let processor = RecordingProcessor()
        try await withConsumer(transport, processor) { await processor.waitFor(1) }
        #expect(transport.calls.prefix(3) == [.openLifeline, .beat, .openReader])
    }
}
