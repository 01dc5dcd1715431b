import Foundation

@testable import MobileClient

/// Time that passes when a test says so.
final class ManualTime: @unchecked Sendable {
    // All members are read and written under `lock`.
    private let lock = NSLock()
    private var current: Date
    private var sleepers: [UUID: (until: Date, continuation: CheckedContinuation<Void, any Error>)] = [:]
    private var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

    init(_ start: Date = Date(timeIntervalSince1970: 1_800_000_000)) { current = start }

    var now: Date { lock.withLock { current } }

    /// The tasks that wait for time to pass.
    var sleeperCount: Int { lock.withLock { sleepers.count } }

    var source: TimeSource { TimeSource(now: { self.now }, sleep: { try await self.sleep($0) }) }

    /// Lets time pass, and ends the waits that end by then.
    func advance(by duration: Duration) { advance(to: now + duration / .seconds(1)) }

    /// Sets the clock without an end of a wait.
    func set(_ time: Date) { lock.withLock { current = time } }

    private func advance(to time: Date) {
        let due = lock.withLock {
            current = max(current, time)
            let due = sleepers.filter { $0.value.until <= current }
            for id in due.keys { sleepers[id] = nil }
            return due.values.sorted { $0.until < $1.until }
        }
        due.forEach { $0.continuation.resume() }
    }

    /// Lets time pass until the earliest wait ends, if that is by `limit`.
    func advanceToNextWait(by limit: Date) {
        let next = lock.withLock { sleepers.values.map(\.until).min() }
        guard let next, next <= limit else { return }
        advance(to: next)
    }

    /// Waits until so many tasks wait for time to pass.
    func waitForSleepers(_ count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isReached = lock.withLock {
                if sleepers.count >= count { return true }
                watchers.append((count, continuation))
                return false
            }
            if isReached { continuation.resume() }
        }
    }

    private func sleep(_ duration: Duration) async throws {
        let id = UUID()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let reached = lock.withLock {
                    guard !Task.isCancelled, duration > .zero else { return [CheckedContinuation<Void, Never>]?.none }
                    sleepers[id] = (current + duration / .seconds(1), continuation)
                    let reached = watchers.filter { $0.count <= sleepers.count }
                    watchers.removeAll { $0.count <= sleepers.count }
                    return reached.map(\.continuation)
                }
                if let reached {
                    reached.forEach { $0.resume() }
                } else if Task.isCancelled {
                    continuation.resume(throwing: CancellationError())
                } else {
                    continuation.resume()
                }
            }
        } onCancel: {
            let sleeper = lock.withLock { sleepers.removeValue(forKey: id) }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }
}
