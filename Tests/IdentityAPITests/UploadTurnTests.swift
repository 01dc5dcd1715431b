import Synchronization
import TestSupport
import Testing

@testable import IdentityAPI

/// Tests of whose chunk is worked on next.
struct UploadTurnTests {
    private static func client(_ number: Int) throws -> IPAddress { try #require(IPAddress("198.51.100.\(number)")) }

    /// Starts a wait for a turn, which notes its name and ends the turn at once.
    private func begin(
        _ name: String, _ client: IPAddress, _ byteCount: Int, on turns: UploadTurns, _ log: EventLog, waits: Bool = true
    ) async throws -> Task<Void, any Error> {
        let before = turns.waiting
        let task = Task {
            let turn = try await turns.begin(client, byteCount: byteCount)
            log.names.withLock { $0.append(name) }
            turns.end(turn)
        }
        if waits { try await eventually("\(name) waits") { turns.waiting == before + 1 } }
        return task
    }

    private final class EventLog: Sendable {
        let names = Mutex<[String]>([])
    }

    @Test func `the next turn is that of the address that has sent the least, and of one address in order`() async throws {
        let (turns, log) = (UploadTurns(width: 1), EventLog())
        let (heavy, light) = (try Self.client(1), try Self.client(2))
        let turn = try await turns.begin(heavy, byteCount: 1_000_000)
        let tasks = [
            try await begin("heavy 1", heavy, 1_000_000, on: turns, log), try await begin("heavy 2", heavy, 1_000_000, on: turns, log),
            try await begin("light 1", light, 1_000, on: turns, log), try await begin("light 2", light, 1_000, on: turns, log),
        ]
        turns.end(turn)
        for task in tasks { try await task.value }
        #expect(log.names.withLock { $0 } == ["light 1", "light 2", "heavy 1", "heavy 2"])
        // The turn is free again.
        _ = try await turns.begin(heavy, byteCount: 1)
    }

    @Test func `an upload that is cancelled gives up its wait`() async throws {
        let (turns, log) = (UploadTurns(width: 1), EventLog())
        let turn = try await turns.begin(Self.client(1), byteCount: 1)
        let waiting = try await begin("cancelled", Self.client(2), 1, on: turns, log)
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(turns.waiting == 0)
        turns.end(turn)
        _ = try await turns.begin(Self.client(3), byteCount: 1)
    }

    @Test func `sites that send much have an eighth of the time together, and others need not wait for the rest`() async throws {
        let clock = ManualClock()
        let (turns, log) = (UploadTurns(width: 1, clock: clock), EventLog())
        let much = Int(UploadTurns.heavyBytes)
        let turn = try await turns.begin(try Self.client(1), byteCount: much)
        clock.advance(by: .milliseconds(2))
        turns.end(turn)
        let heavy = try await begin("heavy", try Self.client(2), much, on: turns, log)
        await clock.waitForSleep(of: .milliseconds(14))
        try await begin("light", try Self.client(3), 1_000, on: turns, log, waits: false).value
        clock.advance(by: .milliseconds(14))
        try await heavy.value
        #expect(log.names.withLock { $0 } == ["light", "heavy"])
    }
}
