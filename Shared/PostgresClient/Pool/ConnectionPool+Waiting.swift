internal import DequeModule
internal import Synchronization

/// The bounds on waiting for a connection, and the guard against a pool that does nothing.
extension ConnectionPool {
    /// Whether there is no connection and the last attempt to make one failed.
    var isUnreachable: Bool { workers.isEmpty && lastConnectError != nil }

    /// The most of a unit's time that is kept for its run.
    private static let maxReserve = Duration.seconds(1).clampedNanoseconds

    /// Returns the time at which a waiting unit fails: some time before its deadline, because a statement that is sent at the last moment
    /// is only cancelled, and would be blamed for the time that it has waited.
    func waitingDeadline(of unit: WorkUnit) -> UInt64 {
        let left = unit.deadline > unit.waitingSince ? unit.deadline - unit.waitingSince : 0
        let end = unit.deadline - min(left / 8, Self.maxReserve)
        guard isUnreachable else { return end }
        return min(end, unit.waitingSince + configuration.unreachableTimeout.clampedNanoseconds)
    }

    /// The error of a unit that has waited for too long.
    var unavailability: PostgresError {
        PostgresError(
            code: .unavailable, message: isUnreachable ? "no connection can be made" : "no connection became free in time",
            underlying: workers.isEmpty ? lastConnectError : nil)
    }

    /// Fails the units that have waited for too long.
    func stopOverdueWaiting(_ now: UInt64) {
        var overdue: [WorkUnit] = []
        for unit in waiting where unit.state != .finished {
            let deadline = waitingDeadline(of: unit)
            if deadline <= now { overdue.append(unit) } else { loop.wake(at: deadline) }
        }
        guard !overdue.isEmpty else { return }
        let error = unavailability
        let start = overdue.map(\.waitingSince).min() ?? now
        // No work is overdue between two attempts to connect.
        if !isUnreachable || connecting > 0, start > lastProgress, stalledSince.load(ordering: .relaxed) == 0 {
            stalledSince.store(start, ordering: .relaxed)
        }
        for unit in overdue { stop(unit, error) }
    }

    /// Records that the server has answered, or that the outcome of an attempt to connect is known.
    func recordProgress() {
        lastProgress = LoopClock.now
        if stalledSince.load(ordering: .relaxed) != 0 { stalledSince.store(0, ordering: .relaxed) }
    }

    /// Takes all connections out of use, because the server that they lead to takes no writes: each is closed soon, or when its work has
    /// ended.
    func retireAll() {
        for connection in workers { connection.isRetired = true }
        // Not at once: the caller may be processing the outputs of one.
        loop.execute { [weak self] in
            self?.assumeIsolated { pool in
                for connection in pool.workers where connection.isRetired { pool.processOutputs(of: connection) }
            }
        }
    }
}
