internal import CLibCurl
internal import DequeModule
internal import HTTPClient
internal import Logging

/// Drives all connections of a client until its mailbox is closed and everything in flight has ended.
///
/// Confined to its thread. A turn of it waits, then takes, reads, begins and writes as much as there is of each. libcurl's
/// multi handle serves for the waiting only: it is a poll that another thread can end.
final class HTTP2Loop {
    /// How long the thread sleeps when nothing happens.
    private static let idleMax: Duration = .seconds(60)
    /// How much is read at once, in bytes: more than a record of TLS holds.
    private static let inputByteCount = 32 * 1024

    let configuration: HTTP2ClientConfiguration
    let logger: Logger
    let desk: CallDesk
    let origin: OriginFields
    var connections: [HTTP2Connection] = []
    var waiting = Deque<Exchange>()
    var redial = Redial()
    var isDialling = false
    let dialler: Dialler
    private let mailbox: HTTP2Mailbox
    private let turnEnded: @Sendable () -> Void
    private let multi: UnsafeMutableRawPointer
    private let input = UnsafeMutableRawBufferPointer.allocate(byteCount: inputByteCount, alignment: 16)
    private var delivery = HTTP2Mailbox.Delivery()
    private var polled: [curl_waitfd] = []
    private var closeDeadline: ContinuousClock.Instant?

    init(
        origin: HTTP2Origin, mailbox: HTTP2Mailbox, configuration: HTTP2ClientConfiguration, logger: Logger,
        turnEnded: @escaping @Sendable () -> Void
    ) {
        self.mailbox = mailbox
        self.configuration = configuration
        self.logger = logger
        self.turnEnded = turnEnded
        multi = CurlLibrary.makeMulti()
        desk = CallDesk(mailbox: mailbox)
        self.origin = OriginFields(origin)
        dialler = Dialler(origin: origin, configuration: configuration, mailbox: mailbox)
        mailbox.open(multi: multi)
    }

    deinit { input.deallocate() }

    func run() {
        var now = ContinuousClock.now
        while !isDone(now) {
            poll(now)
            closeDeadline = mailbox.take(into: &delivery)
            now = .now
            obey(now)
            for (index, connection) in connections.enumerated() where isReadable(index) || connection.mayHoldInput {
                connection.receive(input, now: now)
            }
            expire(now)
            retire(now)
            distribute(now)
            for connection in connections { connection.tick(now: now) }
            for connection in connections { connection.flush() }
            endTurn()
        }
        close()
    }

    private func isDone(_ now: ContinuousClock.Instant) -> Bool {
        guard let closeDeadline else { return false }
        return desk.calls.openCount == 0 || closeDeadline <= now
    }

    // MARK: Waiting

    /// Sleeps until a letter, a socket or a time comes.
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

    /// How long nothing is due.
    private func pause(_ now: ContinuousClock.Instant) -> Duration {
        var next = now + Self.idleMax
        for connection in connections { next = min(next, connection.nextTick ?? next) }
        if let deadline = desk.calls.nextDeadline { next = min(next, deadline) }
        if let closeDeadline { next = min(next, closeDeadline) }
        if !waiting.isEmpty, !isDialling, let earliest = redial.earliest, earliest > now { next = min(next, earliest) }
        return max(.zero, next - now)
    }

    // MARK: Calls

    private func obey(_ now: ContinuousClock.Instant) {
        let deadline = now + configuration.timeout
        for call in delivery.calls { waiting.append(desk.add(call, deadline: deadline)) }
        for id in delivery.cancellations {
            if let exchange = desk.calls.find(id) { abandon(exchange, .cancelled, "the caller was cancelled") }
        }
        for outcome in delivery.dialled { dialled(outcome, now: now) }
        delivery.removeAll()
    }

    private func expire(_ now: ContinuousClock.Instant) {
        while let exchange = desk.calls.first, exchange.deadline <= now {
            abandon(exchange, .timeout, "no answer in \(configuration.timeout)")
        }
        while waiting.first?.isEnded == true { waiting.removeFirst() }
    }

    private func abandon(_ exchange: Exchange, _ code: HTTPClientError.Code, _ message: String) {
        if let connection = exchange.connection { return connection.abandon(exchange, code, message) }
        desk.end(exchange, .failure(HTTPClientError(code, mayHaveReachedServer: false, message)))
    }

    private func endTurn() {
        if desk.endedInTurn > 0 { turnEnded() }
        desk.turn()
    }

    private func close() {
        delivery = mailbox.close()
        obey(.now)
        while let exchange = desk.calls.first { abandon(exchange, .shutDown, "the client was shut down") }
        endTurn()
        for connection in connections { connection.close() }
        connections = []
        curl_multi_cleanup(multi)
    }
}
