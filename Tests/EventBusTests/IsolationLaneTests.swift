import AsyncPrimitives
import Synchronization
import TestSupport
import Testing

@testable import EventBus

/// Counts the tasks that are inside at the same time, and their maximum.
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

@Suite("The isolation lane", .timeLimit(.minutes(3)))
struct IsolationLaneTests {
    private func entry(_ number: UInt64) -> DeliveredEntry {
        DeliveredEntry(id: EntryID(milliseconds: number, sequence: 0), fields: [], deliveryCount: 1)
    }

    @Test func `waits until every consumer of the process is quiet, and lets none begin work`() async throws {
        let isolation = IsolationLane()
        let (first, second) = (ConsumerState(capacity: 4, unitSize: 1), ConsumerState(capacity: 4, unitSize: 1))
        isolation.register(first)
        isolation.register(second)
        first.add([entry(1)])
        let unit = try #require(await first.next())
        let (inside, release) = (AsyncLatch(), AsyncLatch())
        let suspect = Task {
            await isolation.run {
                inside.open()
                await release.wait()
            }
        }
        try await eventually("the first does not read any more") { first.claimRoom == 0 }
        #expect(!inside.isOpen)
        first.settle(acknowledged: unit.map(\.id), [])
        await inside.wait()
        second.add([entry(2)])
        let later = Task { await second.next() }
        #expect(second.claimRoom == 0)
        release.open()
        await suspect.value
        #expect(await later.value?.map(\.id.milliseconds) == [2])
    }

    @Test func `runs one body at a time`() async {
        let isolation = IsolationLane()
        let peak = Peak()
        await withTaskGroup { group in
            for _ in 0..<20 {
                group.addTask {
                    await isolation.run {
                        peak.enter()
                        for _ in 0..<5 { await Task.yield() }
                        peak.leave()
                    }
                }
            }
        }
        #expect(peak.most == 1)
    }

    @Test func `does not run the body of a task that is cancelled while it waits, and resumes work`() async throws {
        let isolation = IsolationLane()
        let state = ConsumerState(capacity: 4, unitSize: 1)
        isolation.register(state)
        state.add([entry(1), entry(2)])
        _ = await state.next()
        let entered = AsyncLatch()
        await withDiscardingTaskGroup { group in
            group.addTask {
                await isolation.run { entered.open() }
            }
            group.cancelAll()
        }
        #expect(!entered.isOpen)
        #expect(await state.next()?.map(\.id.milliseconds) == [2])
    }
}
