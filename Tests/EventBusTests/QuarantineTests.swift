import RedisClient
import Synchronization
import TestSupport
import Testing

@testable import EventBus

/// How many were somewhere at the same time.
private final class Peak: Sendable {
    private let state = Mutex((now: 0, most: 0))

    var most: Int { state.withLock { $0.most } }

    func enter() {
        state.withLock { state in
            state.now += 1
            state.most = max(state.most, state.now)
        }
    }

    func leave() { state.withLock { $0.now -= 1 } }
}

@Suite("The quarantine of a process", .timeLimit(.minutes(3)))
struct QuarantineTests {
    private func entry(_ number: UInt64) -> DeliveredEntry {
        DeliveredEntry(id: EntryID(milliseconds: number, sequence: 0), fields: [], deliveryCount: 1)
    }

    @Test func `waits until every consumer of the process is quiet, and lets none begin meanwhile`() async throws {
        let quarantine = Quarantine()
        let (first, second) = (ConsumerDesk(capacity: 4, unitSize: 1), ConsumerDesk(capacity: 4, unitSize: 1))
        quarantine.join(first)
        quarantine.join(second)
        first.add([entry(1)])
        let unit = try #require(await first.next())
        let (inside, release) = (Latch(), Latch())
        let suspect = Task {
            await quarantine.run {
                inside.fall()
                await release.wait()
            }
        }
        try await eventually("the first does not read any more") { first.claimRoom == 0 }
        #expect(!inside.hasFallen)
        first.settle(acknowledged: unit.map(\.id), [])
        await inside.wait()
        second.add([entry(2)])
        let later = Task { await second.next() }
        #expect(second.claimRoom == 0)
        release.fall()
        await suspect.value
        #expect(await later.value?.map(\.id.milliseconds) == [2])
    }

    @Test func `has one inside at a time`() async {
        let quarantine = Quarantine()
        let peak = Peak()
        await withTaskGroup { group in
            for _ in 0..<20 {
                group.addTask {
                    await quarantine.run {
                        peak.enter()
                        for _ in 0..<5 { await Task.yield() }
                        peak.leave()
                    }
                }
            }
        }
        #expect(peak.most == 1)
    }

    @Test func `does nothing for a task that is cancelled while it waits, and lets work go on`() async throws {
        let quarantine = Quarantine()
        let desk = ConsumerDesk(capacity: 4, unitSize: 1)
        quarantine.join(desk)
        desk.add([entry(1), entry(2)])
        _ = await desk.next()
        let entered = Latch()
        await withDiscardingTaskGroup { group in
            group.addTask {
                await quarantine.run { entered.fall() }
            }
            group.cancelAll()
        }
        #expect(!entered.hasFallen)
        #expect(await desk.next()?.map(\.id.milliseconds) == [2])
    }
}
