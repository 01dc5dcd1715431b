internal import DequeModule

extension ConnectionPool {
    /// Stops a unit whose caller gave up or whose deadline passed.
    func stop(_ unit: WorkUnit, _ reason: PostgresError) {
        // A unit that has not been submitted yet is refused when it is.
        guard unit.isSubmitted else { return }
        switch unit.state {
        case .finished:
            return
        case .waiting:
            unit.finish(.failure(reason))
            switch unit.kind {
            case .read, .exclusive, .lease:
                waitingUnitFinished()
            case .leased, .script, .end:
                break
            }
        case .running:
            if case .read = unit.kind {
                // No cancel request: other reads share the connection, and it would stop one of them.
                unit.finish(.failure(reason))
                return
            }
            guard unit.stopReason == nil else { return }
            unit.stopReason = reason
            if let connection = connections[unit.connection] { cancelStatement(connection) }
        }
    }

    /// Asks the server to stop the statement of a connection that has an exclusive unit.
    private func cancelStatement(_ connection: Connection) {
        connection.stopDeadline = LoopClock.now + configuration.cancelGrace.clampedNanoseconds
        if let deadline = connection.stopDeadline { loop.wake(at: deadline) }
        guard let cancellation = connection.handle.cancellation else { return }
        // The connection is not reused before PQcancel has returned: the request would stop the next statement.
        connection.pendingCancels += 1
        let id = connection.id
        let isStarted = HelperThread.run { [self, loop] in
            cancellation.cancel()
            loop.execute { self.assumeIsolated { $0.cancelReturned(id) } }
        }
        if !isStarted { cancelReturned(id) }
    }

    private func cancelReturned(_ id: UInt64) {
        guard let connection = connections[id] else { return }
        connection.pendingCancels -= 1
        processOutputs(of: connection)
    }

    /// Records that a waiting unit is finished, and compacts the queue when most of its units are.
    private func waitingUnitFinished() {
        waitingCount -= 1
        if waiting.count > 64, waiting.count > 2 * waitingCount {
            waiting.removeAll { $0.state == .finished }
        }
        // The unit may have been the one that all others waited behind.
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
                close(connection, PostgresError(code: .connectionLost, message: "the server did not carry out a cancel request in time"))
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
