internal import CLibCurl
internal import Logging

/// The event loop of a client: drives all its connections until the mailbox is closed and all calls have ended.
///
/// Confined to its thread. An iteration waits, takes the posted calls, reads, starts calls and writes. libcurl's multi handle
/// serves for the waiting only: it is a poll that another thread can interrupt.
final class HTTP2Loop {
    /// The longest sleep of the thread.
    private static let maxSleep: Duration = .seconds(60)
    /// Size of the read buffer in bytes: more than a TLS record holds.
    private static let inputByteCount = 32 * 1024

    let configuration: HTTP2ClientConfiguration
    let logger: Logger
    let registry: CallRegistry
    let origin: HTTP2Origin
    var connections: [HTTP2Connection] = []
    var waiting = WaitingCalls()
    var reconnectBackoff = ReconnectBackoff()
    /// The use of the connection that is being opened; nil when no connection is being opened.
    var connecting: HTTP2Connection.Use?
    /// Whether urgent calls have come that found no connection of their own.
    var lacksUrgentConnection = false
    let connector: Connector
    let connectionsOpened: ConnectionCount
    private let mailbox: HTTP2Mailbox
    private let iterationEnded: @Sendable () -> Void
    private let multi: UnsafeMutableRawPointer
    private let input = UnsafeMutableRawBufferPointer.allocate(byteCount: inputByteCount, alignment: 16)
    private var batch = HTTP2Mailbox.Batch()
    private var polled: [curl_waitfd] = []
    private var closeDeadline: ContinuousClock.Instant?

    init(
        origin: HTTP2Origin, mailbox: HTTP2Mailbox, configuration: HTTP2ClientConfiguration, logger: Logger,
        connectionsOpened: ConnectionCount, iterationEnded: @escaping @Sendable () -> Void
    ) {
        self.mailbox = mailbox
        self.configuration = configuration
        self.logger = logger
        self.connectionsOpened = connectionsOpened
        self.iterationEnded = iterationEnded
        multi = CurlLibrary.makeMulti()
        registry = CallRegistry(mailbox: mailbox)
        self.origin = origin
        connector = Connector(origin: origin, configuration: configuration, mailbox: mailbox)
        mailbox.open(multi: multi)
    }

    deinit { input.deallocate() }

    func run() {
        var now = ContinuousClock.now
        while !isDone(now) {
            poll(now)
            closeDeadline = mailbox.take(into: &batch)
            now = .now
            process(now)
            for (index, connection) in connections.enumerated() where isReadable(index) || connection.mayHoldInput {
                connection.receive(input, now: now)
            }
            expire(now)
            retire(now)
            distribute(now)
            for connection in connections { connection.tick(now: now) }
            for connection in connections { connection.flush() }
            finishIteration()
        }
        close()
    }

    private func isDone(_ now: ContinuousClock.Instant) -> Bool {
        guard let closeDeadline else { return false }
        return registry.calls.openCount == 0 || closeDeadline <= now
    }

    // MARK: Waiting

    /// Sleeps until a post, a socket event or the next timer.
    private func poll(_ now: ContinuousClock.Instant) {
        polled.removeAll(keepingCapacity: true)
        for connection in connections {
            let events = CURL_WAIT_POLLIN | (connection.isWriteBlocked ? CURL_WAIT_POLLOUT : 0)
            polled.append(curl_waitfd(fd: connection.socket.descriptor, events: Int16(events), revents: 0))
        }
        let mustNotSleep = hasWork || !mailbox.mayFallAsleep()
        let pause = mustNotSleep ? 0 : pause(now).curlMilliseconds
        let status = curl_multi_poll(multi, &polled, UInt32(polled.count), Int32(pause), nil)
        if status != CURLM_OK { logger.debug("curl_multi_poll failed", metadata: ["code": "\(status.rawValue)"]) }
    }

    private func isReadable(_ index: Int) -> Bool {
        polled.indices.contains(index) && polled[index].revents & Int16(CURL_WAIT_POLLIN) != 0
    }

    /// Returns the time until the next timer.
    private func pause(_ now: ContinuousClock.Instant) -> Duration {
        var next = now + Self.maxSleep
        for connection in connections { next = min(next, connection.nextTick ?? next) }
        if let deadline = registry.calls.nextDeadline { next = min(next, deadline) }
        if let closeDeadline { next = min(next, closeDeadline) }
        if !waiting.isEmpty, connecting == nil, let earliest = reconnectBackoff.earliest, earliest > now { next = min(next, earliest) }
        return max(.zero, next - now)
    }

    // MARK: Calls

    private func process(_ now: ContinuousClock.Instant) {
        let deadline = now + configuration.timeout
        for posted in batch.calls {
            let call = registry.add(posted, deadline: deadline)
            waiting.append(call)
            if call.isUrgent { lacksUrgentConnection = !connections.contains { $0.use == .urgentCalls && !$0.isEnding } }
        }
        for id in batch.cancellations {
            if let call = registry.calls.find(id) { abandon(call, .cancelled, "the caller was cancelled") }
        }
        for result in batch.connectResults { connectFinished(result, now: now) }
        batch.removeAll()
    }

    private func expire(_ now: ContinuousClock.Instant) {
        while let call = registry.calls.first, call.deadline <= now {
            abandon(call, .timeout, "no response in \(configuration.timeout)")
        }
        waiting.dropEnded()
    }

    private func abandon(_ call: Call, _ code: HTTPClientError.Code, _ message: String) {
        if let connection = call.connection { return connection.abandon(call, code, message) }
        registry.end(call, .failure(HTTPClientError(code, mayHaveReachedServer: false, message)))
    }

    private func finishIteration() {
        if registry.endedInIteration > 0 { iterationEnded() }
        registry.beginIteration()
    }

    private func close() {
        batch = mailbox.seal()
        process(.now)
        while let call = registry.calls.first { abandon(call, .shutDown, "the client was shut down") }
        finishIteration()
        for connection in connections { connection.close() }
        connections = []
        curl_multi_cleanup(multi)
    }
}
