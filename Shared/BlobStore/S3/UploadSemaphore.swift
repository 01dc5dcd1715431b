internal import Synchronization

/// Limits the number of concurrent uploads; further tasks wait in order of arrival.
final class UploadSemaphore: Sendable {
    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>
    private let count: Int

    init(count: Int) {
        precondition(count > 0, "without a slot every upload would wait for ever")
        self.count = count
        state = Mutex(State(free: count))
    }

    func withSlot(_ work: () async throws -> Void) async throws {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.free > 0 else {
                    state.waiting.append(continuation)
                    return false
                }
                state.free -= 1
                return true
            }
            if isFree { continuation.resume() }
        }
        defer { release() }
        try await work()
    }

    private func release() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if !state.waiting.isEmpty { return state.waiting.removeFirst() }
            state.free += 1
            precondition(state.free <= count, "a slot was released twice")
            return nil
        }
        next?.resume()
    }
}
