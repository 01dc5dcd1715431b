internal import Logging
internal import Synchronization

/// The listeners of each channel, and the connection for LISTEN.
struct ListenState {
    enum Link {
        case none
        case connecting
        case connected(LeaseID)
    }

    var link = Link.none
    /// The time of the next attempt to connect; separate, because behind a pooler this connection leads to another server than the
    /// connections for work.
    var backoff: ConnectBackoff
    var lastSubscriber: UInt64 = 0
    /// The subscribers of each channel.
    var subscribers: [String: [UInt64: AsyncStream<PostgresNotification>.Continuation]] = [:]
    /// The channels for which the server has confirmed LISTEN.
    var confirmed: Set<String> = []

    init(_ configuration: PostgresConfiguration) {
        backoff = ConnectBackoff(configuration)
    }
}

extension ConnectionPool {
    /// Adds a listener; the first one makes the pool connect.
    nonisolated func subscribe(_ channel: String) -> PostgresNotifications {
        let (stream, continuation) = AsyncStream.makeStream(
            of: PostgresNotification.self, bufferingPolicy: .bufferingNewest(max(1, configuration.maxBufferedNotifications)))
        loop.execute { self.assumeIsolated { $0.addSubscriber(channel, continuation) } }
        return PostgresNotifications(stream: stream)
    }

    private func addSubscriber(_ channel: String, _ continuation: AsyncStream<PostgresNotification>.Continuation) {
        guard case .running = phase else { return continuation.finish() }
        listening.lastSubscriber += 1
        let number = listening.lastSubscriber
        continuation.onTermination = { [weak self] _ in
            guard let self else { return }
            loop.execute { self.assumeIsolated { $0.removeSubscriber(channel, number) } }
        }
        listening.subscribers[channel, default: [:]][number] = continuation
        listenedChannels.withLock { _ = $0.insert(channel) }
        if listening.confirmed.contains(channel) {
            continuation.yield(PostgresNotification(kind: .listening, channel: channel, payload: ""))
        } else if case .connected(let lease) = listening.link {
            listen(channel, lease)
        } else {
            connectListenerIfNeeded()
        }
    }

    private func removeSubscriber(_ channel: String, _ number: UInt64) {
        listening.subscribers[channel]?[number] = nil
        guard listening.subscribers[channel]?.isEmpty == true else { return }
        listening.subscribers[channel] = nil
        listenedChannels.withLock { _ = $0.remove(channel) }
        listening.confirmed.remove(channel)
        guard case .connected(let lease) = listening.link else { return }
        if listening.subscribers.isEmpty {
            listening.link = .none
            release(lease, discard: true)
        } else {
            runOnListener("UNLISTEN \(quotedIdentifier(channel))", lease) { _, _ in }
        }
    }

    /// Whether this client has listeners of a channel; one that has just subscribed may not count yet.
    nonisolated func hasListeners(on channel: String) -> Bool { listenedChannels.withLock { $0.contains(channel) } }

    /// Wakes the listeners of channels in this client, with an empty payload.
    nonisolated func wakeListeners(on channels: Set<String>) {
        guard !channels.isEmpty else { return }
        loop.execute {
            self.assumeIsolated { pool in
                for channel in channels { pool.deliver(PostgresNotification(kind: .message, channel: channel, payload: "")) }
            }
        }
    }

    /// Passes a notification to all listeners of its channel.
    func deliver(_ notification: PostgresNotification) {
        guard let subscribers = listening.subscribers[notification.channel] else { return }
        for continuation in subscribers.values { continuation.yield(notification) }
    }

    // MARK: The connection

    func connectListenerIfNeeded() {
        guard case .running = phase, case .none = listening.link, !listening.subscribers.isEmpty else { return }
        let earliest = listening.backoff.nextAttempt
        guard LoopClock.now >= earliest else { return loop.wake(at: earliest) }
        listening.link = .connecting
        connect(isDirect: true) { pool, outcome in pool.listenerConnected(outcome) }
    }

    private func listenerConnected(_ outcome: Result<ConnectionHandle, PostgresError>) {
        listening.link = .none
        switch outcome {
        case .success(let handle):
            listening.backoff.succeeded()
            guard !listening.subscribers.isEmpty, let connection = adopt(handle) else { return }
            connection.isListener = true
            lastLease += 1
            let lease = LeaseID(connection: connection.id, number: lastLease)
            connection.lease = lease
            listening.link = .connected(lease)
            for channel in listening.subscribers.keys { listen(channel, lease) }
            loop.wake(at: LoopClock.now + configuration.listenProbeInterval.clampedNanoseconds)
        case .failure(let error):
            listening.backoff.failed(now: LoopClock.now)
            logger.warning("cannot connect to Postgres to listen", metadata: ["reason": "\(error.message)"])
            connectListenerIfNeeded()
        }
    }

    /// Sends a query on the connection for LISTEN when it has been silent for a while: a peer that has gone looks like one without
    /// news, and so does a server that takes no more writes, where no client notifies.
    func probeListenerIfDue(_ now: UInt64) {
        guard case .connected(let lease) = listening.link, let connection = connections[lease.connection] else { return }
        let due = connection.lastReceived + configuration.listenProbeInterval.clampedNanoseconds
        guard due <= now else { return loop.wake(at: due) }
        guard connection.inFlight == 0, connection.leaseQueue.isEmpty else { return }
        let isReadOnly = "SELECT current_setting('transaction_read_only') = 'on'"
        runOnListener(isReadOnly, lease, within: configuration.cancelGrace) { pool, rows in
            if (try? rows?.first?.decode(0, as: Bool.self)) == true { pool.release(lease, discard: true) }
        }
    }

    func listenerLost() {
        listening.link = .none
        listening.confirmed.removeAll()
        listening.backoff.failed(now: LoopClock.now)
        connectListenerIfNeeded()
    }

    private func listen(_ channel: String, _ lease: LeaseID) {
        runOnListener("LISTEN \(quotedIdentifier(channel))", lease) { pool, rows in
            // An UNLISTEN may already be on its way; this answer must not confirm the channel for a later subscriber.
            guard rows != nil, pool.listening.subscribers[channel] != nil else { return }
            pool.listening.confirmed.insert(channel)
            pool.deliver(PostgresNotification(kind: .listening, channel: channel, payload: ""))
        }
    }

    /// Runs a statement on the connection for LISTEN, and replaces the connection if it fails.
    ///
    /// - Parameter completion: Called with the rows; nil when the statement failed.
    private func runOnListener(
        _ sql: String, _ lease: LeaseID, within timeout: Duration? = nil,
        _ completion: @escaping @Sendable (isolated ConnectionPool, PostgresRows?) -> Void
    ) {
        let deadline = LoopClock.now + (timeout ?? configuration.queryTimeout).clampedNanoseconds
        let unit = WorkUnit(query: PostgresQuery(unescaped: sql), kind: .leased(lease), deadline: deadline)
        unit.handler = { [weak self] result in
            self?.assumeIsolated { pool in
                if case .success(.rows(let rows)) = result { return completion(pool, rows) }
                completion(pool, nil)
                // The LISTEN or UNLISTEN failed: listen again on a new connection.
                pool.release(lease, discard: true)
            }
        }
        submit(unit)
    }
}
