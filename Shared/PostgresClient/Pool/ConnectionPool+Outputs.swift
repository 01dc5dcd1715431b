internal import DequeModule
internal import Logging

extension ConnectionPool {
    /// Processes the outputs of a connection: completes and requeues units, delivers notifications, and closes a failed connection.
    func processOutputs(of connection: Connection) {
        if !connection.finished.isEmpty {
            let finished = connection.finished
            connection.finished.removeAll(keepingCapacity: true)
            finished.forEach(complete)
        }
        if !connection.toRetry.isEmpty {
            let units = connection.toRetry
            connection.toRetry.removeAll()
            requeue(units)
        }
        if !connection.notifications.isEmpty {
            let notifications = connection.notifications
            connection.notifications.removeAll()
            notifications.forEach(deliver)
        }
        // A completed unit may have closed the connection.
        guard connections[connection.id] === connection else { return }
        if let failure = connection.failure { return close(connection, failure) }
        if let stopping = connection.stopping, connection.oldest.first !== stopping.unit, connection.pendingCancels == 0 {
            connection.stopping = nil
        }
        if connection.isRetired, connection.isUnused {
            return close(connection, PostgresError(code: .connectionLost, message: "the connection was replaced"), isIntended: true)
        }
        if connection.lease != nil {
            startLeased(connection)
        } else if connection.isIdle, !connection.isOutsideTransaction {
            // A BEGIN sent as a single query, or a ROLLBACK that failed, must not reach the next user of the connection.
            return close(connection, PostgresError(code: .connectionLost, message: "a transaction was left open"))
        }
        pump()
        finishDraining()
    }

    /// Has the loop process the outputs of a connection that failed while sending.
    func scheduleProcessingIfFailed(_ connection: Connection) {
        guard connection.failure != nil else { return }
        // Not at once: the caller may be iterating over the connections.
        loop.execute { [weak self, id = connection.id] in
            self?.assumeIsolated { pool in pool.connections[id].map(pool.processOutputs(of:)) }
        }
    }

    /// Resumes the caller of a unit with the server's result.
    private func complete(_ unit: WorkUnit) {
        // An answered probe of the listener does not show that the connections for work are alive.
        if connections[unit.connection]?.isListener != true { recordProgress() }
        if case .failure(let error)? = unit.result, error.replacesConnection { replaceConnections(after: error, of: unit) }
        guard unit.state != .finished else { return }
        switch unit.result {
        case .success(let rows):
            unit.finish(.success(.rows(rows)))
        case .failure(let error):
            if let reason = unit.stopReason, error.sqlState == "57014" {
                unit.finish(.failure(reason))
            } else {
                unit.finish(.failure(error))
            }
        case nil:
            let message = "the server skipped the statement after an earlier error"
            unit.finish(.failure(PostgresError(code: .sqlState("25P02"), message: message)))
        }
    }

    /// Takes the connection that an error came from out of use, and all connections when it says that the server is read-only.
    private func replaceConnections(after error: PostgresError, of unit: WorkUnit) {
        if error.sqlState == PostgresError.readOnlyState { return retireAll() }
        if let connection = connections[unit.connection] { connection.isRetired = true }
    }

    /// Puts units that failed for reasons outside of them back to the front of the queue.
    private func requeue(_ units: [WorkUnit]) {
        for unit in units.reversed() where unit.state != .finished {
            if let reason = unit.stopReason {
                unit.finish(.failure(reason.code == .timeout ? Self.notBegun : reason))
                continue
            }
            unit.state = .waiting
            unit.result = nil
            unit.waitingSince = LoopClock.now
            waiting.prepend(unit)
            waitingCount += 1
            loop.wake(at: waitingDeadline(of: unit))
        }
    }

    /// Closes a connection; its units fail, except reads, which are retried once on another connection.
    func close(_ connection: Connection, _ error: PostgresError, isIntended: Bool = false) {
        guard connections.removeValue(forKey: connection.id) != nil else { return }
        if !connection.isListener { recordProgress() }
        workers.removeAll { $0 === connection }
        // The result of an attempt that was made while there were connections is not the server's present state.
        if workers.isEmpty { lastConnectError = nil }
        connectionsWithOpenGroup.removeAll { $0 === connection }
        connection.unregister()
        if case .running = phase, !isIntended {
            logger.warning("connection to Postgres closed", metadata: ["reason": "\(error.message)"])
        }
        let units = connection.units
        let retryable = units.filter { isRetryableAfterLoss($0) }
        for unit in retryable { unit.wasRetried = true }
        requeue(retryable)
        for unit in units where unit.state != .finished && !retryable.contains(where: { $0 === unit }) {
            var lost = PostgresError(code: .connectionLost, message: error.message)
            // The server's last error, such as "terminating connection due to administrator command".
            if case .failure(let cause)? = unit.result { lost.underlying = cause }
            // A deadline that passed before the connection broke is not the fault of the statement: the server was silent.
            unit.finish(.failure(unit.stopReason?.code == .cancelled ? .cancelled : lost))
        }
        if connection.isListener { listenerLost() }
        pump()
        finishDraining()
    }

    /// Whether a unit whose connection broke may be sent again: only a unit that cannot have taken effect.
    private func isRetryableAfterLoss(_ unit: WorkUnit) -> Bool {
        guard case .running = phase, case .read = unit.kind else { return false }
        return unit.state == .running && !unit.wasRetried && unit.stopReason == nil
    }

    /// Ends a lease.
    ///
    /// - Parameter discard: Whether to close the connection instead of reusing it.
    nonisolated func release(_ lease: LeaseID, discard: Bool = false) {
        if loop.isCurrent {
            assumeIsolated { $0.endLease(lease, discard: discard) }
        } else {
            loop.execute { self.assumeIsolated { $0.endLease(lease, discard: discard) } }
        }
    }

    private func endLease(_ lease: LeaseID, discard: Bool) {
        guard let connection = connections[lease.connection], connection.lease == lease else { return }
        connection.lease = nil
        connection.pendingBegin = nil
        for unit in connection.leaseQueue where unit.state != .finished { unit.finish(.failure(.transactionEnded)) }
        connection.leaseQueue.removeAll()
        if discard {
            let reason = PostgresError(code: .connectionLost, message: "the session must not be reused")
            return close(connection, reason, isIntended: true)
        }
        processOutputs(of: connection)
    }
}
