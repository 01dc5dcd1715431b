internal import DequeModule
internal import HTTPClient
internal import Logging

/// Which connections there are, and which call goes where.
extension HTTP2Loop {
    /// Begins the calls that wait, on the first connection that has room; opens another when none has.
    func distribute(_ now: ContinuousClock.Instant) {
        for connection in connections {
            while connection.hasRoom, let exchange = waiting.first {
                if exchange.isEnded || connection.open(exchange, now: now) { waiting.removeFirst() }
            }
        }
        guard !waiting.isEmpty, !isDialling, redial.isDue(now: now) else { return }
        // One that is being made is waited for: it may have room for all.
        guard !connections.contains(where: { $0.state == .greeting }) else { return }
        let inUse = connections.count { $0.state == .ready }
        guard inUse < configuration.connectionsMax else { return }
        isDialling = true
        dialler.dial()
    }

    /// Takes a connection that was made, or notes that none could be.
    func dialled(_ outcome: Result<CurlSocket, HTTPClientError>, now: ContinuousClock.Instant) {
        isDialling = false
        switch outcome {
        case .success(let socket):
            dialler.mailbox.connectionOpened()
            let connection = HTTP2Connection(
                socket: socket, origin: origin, desk: desk, configuration: configuration, now: now)
            if let connection { connections.append(connection) }
        case .failure(let error):
            logger.debug("cannot connect", metadata: ["error": "\(error)"])
            unreachable(error, now: now)
        }
    }

    /// Lets go of the connections that are of no more use.
    func retire(_ now: ContinuousClock.Instant) {
        guard connections.contains(where: { $0.isOver }) else { return }
        let over = connections.filter { $0.isOver }
        connections.removeAll { $0.isOver }
        for connection in over {
            connection.close()
            let reason = connection.fault ?? "the server begins nothing more on it"
            logger.debug("a connection has ended", metadata: ["reason": "\(reason)"])
            if connection.hasAnswered || connection.isOld {
                redial.succeeded()
            } else {
                unreachable(HTTPClientError(.notSent, mayHaveReachedServer: false, reason), now: now)
            }
        }
    }

    /// Whether something can be done without waiting for anything.
    var hasWork: Bool {
        connections.contains { $0.mayHoldInput || $0.isOver || ($0.hasRoom && !waiting.isEmpty) }
    }

    /// Notes that a server is not there, and fails the calls that wait for it, unless there is another connection to it or
    /// may be soon.
    private func unreachable(_ error: HTTPClientError, now: ContinuousClock.Instant) {
        redial.failed(now: now)
        guard !isDialling, !connections.contains(where: { $0.state == .ready || $0.state == .greeting }) else { return }
        while let exchange = waiting.popFirst() { desk.end(exchange, .failure(error)) }
    }
}
