internal import Logging

extension ConnectionPool {
    /// Opens connections for the waiting work, as far as the limit and the backoff allow.
    func openConnections(atLeast minimum: Int = 0) {
        if case .closed = phase { return }
        let wanted = max(minimum, waitingCount)
        let allowed = configuration.maxConnections - workers.count
        guard connecting < min(wanted, allowed) else { return }
        let now = LoopClock.now
        guard now >= backoff.nextAttempt else { return loop.wake(at: backoff.nextAttempt) }
        // While attempts fail, one at a time is enough.
        let limit = lastConnectError == nil ? min(wanted, allowed) : 1
        while connecting < limit {
            connecting += 1
            connect { pool, outcome in
                pool.connecting -= 1
                pool.connected(outcome)
            }
        }
    }

    /// Connects on a helper thread, and reports the outcome on the loop.
    ///
    /// - Parameter isDirect: Whether to bypass a pooler.
    func connect(
        isDirect: Bool = false,
        _ completion: @escaping @Sendable (isolated ConnectionPool, Result<ConnectionHandle, PostgresError>) -> Void
    ) {
        let isStarted = HelperThread.run { [self, loop, configuration, logger] in
            let outcome: Result<ConnectionHandle, PostgresError>
            do throws(PostgresError) {
                outcome = .success(try ConnectionHandle.open(isDirect ? configuration.direct : configuration, logger: logger))
            } catch {
                outcome = .failure(error)
            }
            loop.execute { self.assumeIsolated { completion($0, outcome) } }
        }
        guard !isStarted else { return }
        let error = PostgresError(code: .connectionLost, message: "no thread available to connect on")
        loop.execute { self.assumeIsolated { completion($0, .failure(error)) } }
    }

    /// Registers a new connection; nil when the client has been closed, or the loop cannot watch the socket.
    func adopt(_ handle: ConnectionHandle) -> Connection? {
        if case .closed = phase { return nil }
        lastConnectionID += 1
        let connection = Connection(
            id: lastConnectionID, handle: handle, loop: loop,
            maxStatements: configuration.isPooled ? nil : configuration.maxPreparedStatements)
        guard connection.register() else { return nil }
        connections[connection.id] = connection
        return connection
    }

    private func connected(_ outcome: Result<ConnectionHandle, PostgresError>) {
        recordProgress()
        switch outcome {
        case .success(let handle):
            backoff.succeeded()
            lastConnectError = nil
            guard let connection = adopt(handle) else { return }
            workers.append(connection)
        case .failure(let error):
            connectFailed(error)
        }
        pump()
        finishDraining()
    }

    private func connectFailed(_ error: PostgresError) {
        lastConnectError = error
        let now = LoopClock.now
        backoff.failed(now: now)
        // What waits has another deadline from now on.
        loop.wake(at: now)
        logger.warning("cannot connect to Postgres", metadata: ["reason": "\(error.message)"])
    }
}
