import Synchronization
import TestSupport
import Testing

@testable import ImageGenerators

@Suite struct MemoryBudgetTests {
    @Test func `the sum of all shares never exceeds the budget`() async throws {
        let budget = MemoryBudget(bytes: 100)
        let used = Peak()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<200 {
                let share = [100, 1, 30, 60, 0, 250][index % 6]
                group.addTask {
                    try await budget.withShare(of: share) {
                        used.add(min(share, 100))
                        await Task.yield()
                        used.add(-min(share, 100))
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(used.most <= 100)
        #expect(used.now == 0)
    }

    @Test func `small shares overtake a waiting large one a limited number of times`() async throws {
        let budget = MemoryBudget(bytes: 100)
        let order = Order()
        try await withThrowingTaskGroup(of: Void.self) { group in
            try await budget.withShare(of: 80) {
                group.addTask { try await budget.withShare(of: 80) { order.note("large") } }
                try await eventually("the large one waits") { budget.waiting == 1 ? () : nil }
                for _ in 0..<MemoryBudget.maxPasses { try await budget.withShare(of: 10) { order.note("small") } }
                group.addTask { try await budget.withShare(of: 10) { order.note("late") } }
                try await eventually("the late one waits") { budget.waiting == 2 ? () : nil }
            }
            try await group.waitForAll()
        }
        let names = order.names
        #expect(names.prefix(MemoryBudget.maxPasses).allSatisfy { $0 == "small" })
        #expect(Set(names.dropFirst(MemoryBudget.maxPasses)) == ["large", "late"])
    }

    @Test func `a cancelled or expired waiter leaves the queue and takes no memory`() async throws {
        let budget = MemoryBudget(bytes: 10)
        try await budget.withShare(of: 10) {
            let waiting = Task { try await budget.withShare(of: 1) {} }
            try await eventually("it waits") { budget.waiting == 1 ? () : nil }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
            await #expect(throws: CancellationError.self) { try await budget.withShare(of: 1, until: .now + .milliseconds(20)) {} }
            await #expect(throws: CancellationError.self) { try await budget.withShare(of: 1, until: .now) {} }
        }
        #expect(budget.waiting == 0)
        try await budget.withShare(of: 10) {}
    }
}

private final class Peak: Sendable {
    private let state = Mutex((now: 0, most: 0))

    var now: Int { state.withLock { $0.now } }
    var most: Int { state.withLock { $0.most } }

    func add(_ share: Int) {
        state.withLock { state in
            state.now += share
            state.most = max(state.most, state.now)
        }
    }
}

private final class Order: Sendable {
    private let state = Mutex<[String]>([])

    var names: [String] { state.withLock { $0 } }

    func note(_ name: String) { state.withLock { $0.append(name) } }
}
