internal import Logging
internal import Synchronization

/// Management of the connections, and assignment of calls to them.
extension HTTP2Loop {
    /// Starts waiting calls on the first connections of their use that have room; opens another connection when no connection has room.
    ///
    /// Without a connection for urgent calls, an urgent call starts on another connection, while the connection for urgent calls is opened.
    func distribute(_ now: ContinuousClock.Instant) {
        for connection in connections {
            while connection.hasRoom, let call = waiting.first(for: connection.use) {
                if call.isEnded || connection.open(call, now: now) { waiting.removeFirst(for: connection.use) }
            }
        }
        guard connecting == nil, reconnectBackoff.isDue(now: now) else { return }
        // A connection that awaits its SETTINGS may soon have room for all calls.
        guard !connections.contains(where: { $0.state == .awaitingSettings }) else { return }
        if lacksUrgentConnection { return connect(for: .urgentCalls) }
        let inUse = connections.count { $0.state == .ready && $0.use == .allCalls }
        if !waiting.isEmpty, inUse < configuration.maxConnections { connect(for: .allCalls) }
    }

    private func connect(for use: HTTP2Connection.Use) {
        connecting = use
        connector.start()
    }

    /// Adds a new connection, or records that connecting failed.
    func connectFinished(_ result: Result<CurlSocket, HTTPClientError>, now: ContinuousClock.Instant) {
        let use = connecting ?? .allCalls
        connecting = nil
        // After a failure the next urgent call asks for it again.
        if use == .urgentCalls { lacksUrgentConnection = false }
        switch result {
        case .success(let socket):
            connectionsOpened.value.add(1, ordering: .relaxed)
            let connection = HTTP2Connection(
                socket: socket, use: use, origin: origin, registry: registry, configuration: configuration, now: now)
            // The connection for urgent calls comes first in each step of an iteration.
            if let connection { connections.insert(connection, at: use == .urgentCalls ? 0 : connections.endIndex) }
        case .failure(let error):
            logger.debug("cannot connect", metadata: ["error": "\(error)"])
            recordUnreachable(error, now: now)
        }
    }

    /// Closes and removes finished connections.
    func retire(_ now: ContinuousClock.Instant) {
        guard connections.contains(where: { $0.isFinished }) else { return }
        let finished = connections.filter { $0.isFinished }
        connections.removeAll { $0.isFinished }
        for connection in finished {
            connection.close()
            let reason = connection.fault ?? "it was drained"
            logger.debug("connection closed", metadata: ["reason": "\(reason)"])
            if connection.hasAnswered || connection.isOld {
                reconnectBackoff.succeeded()
            } else {
                recordUnreachable(HTTPClientError(.notSent, mayHaveReachedServer: false, reason), now: now)
            }
        }
    }

    /// Whether there is work that needs no socket event.
    var hasWork: Bool {
        connections.contains { $0.mayHoldInput || $0.isFinished || ($0.hasRoom && waiting.first(for: $0.use) != nil) }
    }

    /// Records that the server is unreachable and fails the waiting calls, unless another connection is open or being opened.
    private func recordUnreachable(_ error: HTTPClientError, now: ContinuousClock.Instant) {
        reconnectBackoff.failed(now: now)
        guard connecting == nil, !connections.contains(where: { $0.state == .ready || $0.state == .awaitingSettings }) else { return }
        while let call = waiting.popFirst() { registry.end(call, .failure(error)) }
    }
}
