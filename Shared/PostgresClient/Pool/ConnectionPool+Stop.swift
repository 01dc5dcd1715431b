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
            guard unit.stopReason == nil else { return }
            if case .read = unit.kind {
                // Not stopped at the server: other reads share the connection. Its answer stays due.
                unit.finish(.failure(reason))
                return
            }
            unit.stopReason = reason
            if let connection = connections[unit.connection] { cancelStatement(unit, connection) }
        }
    }

    /// Asks the server to stop the statement of a unit, which is the first of the oldest of its connection.
    private func cancelStatement(_ unit: WorkUnit, _ connection: Connection) {
        let start = LoopClock.now
        let deadline = start + configuration.cancelGrace.clampedNanoseconds
        connection.stopping = Connection.Stopping(unit: unit, start: start, deadline: deadline)
        loop.wake(at: deadline)
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
        stopOverdueWaiting(now)
        for connection in Array(connections.values) { stopOverdue(on: connection, now) }
        pump()
        connectListenerIfNeeded()
        probeListenerIfDue(now)
        drainDeadlineReached(now)
    }

    // MARK: Overdue units of a connection

    /// Stops what is overdue on a connection, and closes the connection if the server does not answer that in time.
    ///
    /// The answer to the oldest units is due by their deadline even if their callers have gone: only a missing answer shows that the server
    /// is silent. Units that are not overdue are sent again.
    private func stopOverdue(on connection: Connection, _ now: UInt64) {
        if let stopping = connection.stopping {
            guard stopping.deadline <= now else { return loop.wake(at: stopping.deadline) }
            return closeSilent(connection, stopping)
        }
        let oldest = connection.oldest
        let overdue = oldest.filter { $0.deadline <= now }
        for unit in overdue where unit.state == .running { unit.stopReason = unit.stopReason ?? Self.overdue }
        if let first = oldest.first, !overdue.isEmpty { return cancelStatement(first, connection) }
        for unit in oldest { loop.wake(at: unit.deadline) }
        for unit in connection.units.dropFirst(oldest.count) where unit.state != .finished && unit.stopReason == nil {
            if unit.deadline <= now { stop(unit, Self.notBegun) } else { loop.wake(at: unit.deadline) }
        }
    }

    /// Closes a connection whose server is silent. Also closes the connections that have received nothing since and run only reads, because
    /// they may lead to the same server; the reads are repeated elsewhere.
    private func closeSilent(_ connection: Connection, _ stopping: Connection.Stopping) {
        let suspects = workers.filter { $0 !== connection && $0.hasReadsOnly && $0.lastReceived < stopping.start }
        let silent = [connection] + suspects
        for connection in silent { connection.isRetired = true }
        let message = "the server has neither answered a statement in time nor carried out the request to cancel it"
        for connection in silent { close(connection, PostgresError(code: .connectionLost, message: message)) }
    }

    private static let overdue = PostgresError(code: .timeout, message: "the statement did not finish before its deadline")

    /// The error of a unit whose deadline passed while the server was at an earlier unit of the connection. It is not the fault of the
    /// statement: the earlier unit is slow, or the server is silent.
    static let notBegun = PostgresError(code: .unavailable, message: "an earlier statement of the connection did not finish in time")
}
