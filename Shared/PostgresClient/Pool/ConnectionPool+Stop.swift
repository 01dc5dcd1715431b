internal import DequeModule

extension ConnectionPool {
    /// Stops a unit whose caller gave up or whose deadline passed.
    func stop(_ unit: WorkUnit, _ reason: PostgresError) {
        // One that has not come yet is refused when it comes.
        guard unit.isSubmitted else { return }
        switch unit.state {
        case .finished:
            return
        case .waiting:
            unit.finish(.failure(reason))
            switch unit.kind {
            case .read, .exclusive, .lease:
                forgetWaiting()
            case .leased, .script, .end:
                break
            }
        case .running:
            if case .read = unit.kind {
                // Others share the connection, so the server is not told: it would stop a neighbour.
                unit.finish(.failure(reason))
                return
            }
            guard unit.stopReason == nil else { return }
            unit.stopReason = reason
            if let connection = connections[unit.connection] { cancelStatement(connection) }
        }
    }

    /// Asks the server to stop the statement of a connection that one unit has to itself.
    private func cancelStatement(_ connection: Connection) {
        connection.stopDeadline = MonotonicClock.now + configuration.cancelGrace.clampedNanoseconds
        if let deadline = connection.stopDeadline { loop.wake(at: deadline) }
        guard let cancellation = connection.handle.cancellation else { return }
        // Nobody else gets the connection before PQcancel has returned: the request would hit his statement.
        connection.cancelsPending += 1
        let id = connection.id
        let isStarted = HelperThread.run { [self, loop] in
            cancellation.cancel()
            loop.execute { self.assumeIsolated { $0.cancelReturned(id) } }
        }
        if !isStarted { cancelReturned(id) }
    }

    private func cancelReturned(_ id: UInt64) {
        guard let connection = connections[id] else { return }
        connection.cancelsPending -= 1
        settle(connection)
    }

    /// Notes that a waiting unit is finished; the queue is tidied when most of it is.
    private func forgetWaiting() {
        waitingCount -= 1
        if waiting.count > 64, waiting.count > 2 * waitingCount {
            waiting.removeAll { $0.state == .finished }
        }
        // The unit may have been the one that everybody waited behind.
        pump()
        finishDraining()
    }

    func timeReached(_ now: UInt64) {
        var overdue: [WorkUnit] = []
        func check(_ unit: WorkUnit) {
            guard unit.state != .finished, unit.stopReason == nil else { return }
            if unit.deadline <= now { overdue.append(unit) } else { loop.wake(at: unit.deadline) }
        }
        waiting.forEach(check)
        for connection in connections.values { connection.units.forEach(check) }
        for unit in overdue { stop(unit, timeout(of: unit)) }
        for connection in Array(connections.values) {
            guard let deadline = connection.stopDeadline else { continue }
            if deadline > now {
                loop.wake(at: deadline)
            } else {
                close(connection, PostgresError(code: .connectionLost, message: "the server did not obey a cancel request"))
            }
        }
        pump()
        connectListenerIfNeeded()
        drainDeadlineReached(now)
    }

    private func timeout(of unit: WorkUnit) -> PostgresError {
        guard case .waiting = unit.state else {
            return PostgresError(code: .timeout, message: "the statement did not finish before its deadline")
        }
        return PostgresError(
            code: .timeout, message: "no connection became free before the deadline",
            underlying: workers.isEmpty ? lastConnectError : nil)
    }
}
