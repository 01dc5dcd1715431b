import Synchronization

/// Where a process works on suspects: one at a time, while it does nothing else.
///
/// Who dies takes everything in its hands along, and each of those messages counts a crash. So a message is not given up for
/// crashes in company: with the second it becomes a suspect, and only a crash in here is the last.
final class Quarantine: Sendable {
    private struct State {
        var desks: [ConsumerDesk] = []
        /// Falls when who is inside has left; nil when nobody is.
        var inside: Latch?
    }

    private let state = Mutex(State())

    /// Has a consumer of the process stand still while somebody is inside.
    func join(_ desk: ConsumerDesk) { state.withLock { $0.desks.append(desk) } }

    /// Does something while no consumer of the process works: waits until nobody else is inside, lets nothing new begin, and
    /// waits until what has begun is settled. Does nothing when the task is cancelled before.
    func run(_ body: () async -> Void) async {
        let left = Latch()
        while let other = enter(left) {
            await other.wait()
            if Task.isCancelled { return }
        }
        let desks = state.withLock { $0.desks }
        for desk in desks { await desk.pause() }
        if !Task.isCancelled { await body() }
        for desk in desks { desk.resume() }
        state.withLock { $0.inside = nil }
        left.fall()
    }

    /// Goes inside; gives the latch of who is there already.
    private func enter(_ left: Latch) -> Latch? {
        state.withLock { state in
            if let other = state.inside { return other }
            state.inside = left
            return nil
        }
    }
}
