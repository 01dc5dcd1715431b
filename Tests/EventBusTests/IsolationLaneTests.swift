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

    @Test func `waits until the suspect's consumer is quiet, and lets it begin no work`() async throws {
        let isolation = IsolationLane()
        let state = StreamConsumerState(capacity: 4, unitSize: 1)
        state.add([entry(1)])
        let unit = try #require(await state.next())
        let (inside, release) = (AsyncLatch(), AsyncLatch())
        let suspect = Task {
            await isolation.run(pausing: state) {
                inside.open()
                await release.wait()
            }
        }
        try await eventually("it does not read any more") { state.claimRoom == 0 }
        #expect(!inside.isOpen)
        state.settle(acknowledged: unit.map(\.id), [])
        await inside.wait()
        state.add([entry(2)])
        let later = Task { await state.next() }
        #expect(state.claimRoom == 0)
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
                    await isolation.run(pausing: StreamConsumerState(capacity: 4, unitSize: 1)) {
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
        let state = StreamConsumerState(capacity: 4, unitSize: 1)
        state.add([entry(1), entry(2)])
        _ = await state.next()
        let entered = AsyncLatch()
        await withDiscardingTaskGroup { group in
            group.addTask {
                await isolation.run(pausing: state) { entered.open() }
            }
            group.cancelAll()
        }
        #expect(!entered.isOpen)
        #expect(await state.next()?.map(\.id.milliseconds) == [2])
    }
}
