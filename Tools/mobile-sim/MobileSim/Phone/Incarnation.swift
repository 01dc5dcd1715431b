internal import Foundation
internal import Synchronization

/// One process of a phone's app, from its launch to its end.
///
/// After the end, no call that its network or its clock has taken returns any more, and the folder that it knows is gone: it was renamed in
/// the moment of the end, so that the rest of the process' computations cannot reach the files of the next one. The effect is as if the
/// system had killed the process, between any two instructions with an external effect.
final class Incarnation: Sendable {
    /// Where a process may be asked whether it still lives.
    enum Point: String, Sendable {
        /// Before a request is sent.
        case request
        /// After the API has answered, and before the app knows.
        case answer
        /// Before or after a pause.
        case pause
        /// Between two steps of the app.
        case step
    }

    private struct State {
        var isAlive = true
        /// The points until the process ends; nil when that is not planned.
        var pointsLeft: Int?
        var end: String?
        var parked: [Int: UnsafeContinuation<Void, Never>] = [:]
        /// The calls that were cancelled before they were parked.
        var cancelled: Set<Int> = []
        var next = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    let number: Int
    /// The folder as this process knows it.
    let folder: URL
    private let atEnd: @Sendable () -> Void
    private let state = Mutex(State())

    /// - Parameter atEnd: Takes the folder away; called once, in the moment of the end.
    init(number: Int, folder: URL, atEnd: @escaping @Sendable () -> Void = {}) {
        self.number = number
        self.folder = folder
        self.atEnd = atEnd
    }

    var isAlive: Bool { state.withLock { $0.isAlive } }

    /// Where the process ended; nil while it lives.
    var endedAt: String? { state.withLock { $0.end } }

    /// Has the process end at the `points`-th point from now on.
    func end(afterPoints points: Int) { state.withLock { $0.pointsLeft = max(1, points) } }

    /// Takes back a planned end that has not come.
    func spare() { state.withLock { $0.pointsLeft = nil } }

    /// Ends the process now.
    func end(at place: String = "between two steps") {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>]? in
            guard state.isAlive else { return nil }
            // Within the lock: a caller that has read that the process lives may still use its folder.
            atEnd()
            state.isAlive = false
            state.end = place
            defer { state.waiting = [] }
            return state.waiting
        }
        waiting?.forEach { $0.resume() }
    }

    /// Returns true while the process lives. Afterwards it returns only if the task is cancelled, and false then.
    func pass(_ point: Point, _ detail: @autoclosure () -> String = "") async -> Bool {
        let isDue = state.withLock { state in
            guard state.isAlive, point != .step, let left = state.pointsLeft else { return false }
            state.pointsLeft = left - 1
            return left <= 1
        }
        if isDue { end(at: "\(point.rawValue) \(detail())") }
        guard !isAlive else { return true }
        await park()
        return false
    }

    /// Returns when the process has ended.
    func ended() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.isAlive { state.waiting.append(continuation) }
                return !state.isAlive
            }
            if isOver { continuation.resume() }
        }
    }

    /// Has ``ended()`` return although the process lives.
    func release() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        waiting.forEach { $0.resume() }
    }

    /// Suspends the task until it is cancelled, or for ever.
    private func park() async {
        let key = state.withLock { state in
            state.next += 1
            return state.next
        }
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let isCancelled = state.withLock { state in
                    if state.cancelled.remove(key) != nil { return true }
                    state.parked[key] = continuation
                    return false
                }
                if isCancelled { continuation.resume() }
            }
        } onCancel: {
            let continuation = state.withLock { state in
                let continuation = state.parked.removeValue(forKey: key)
                if continuation == nil { state.cancelled.insert(key) }
                return continuation
            }
            continuation?.resume()
        }
    }
}
