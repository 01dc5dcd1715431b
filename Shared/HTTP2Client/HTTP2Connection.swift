internal import HTTPClient

/// One connection: its socket, its session, and the calls on it.
///
/// Confined to the client's thread. The session's callbacks (``HTTP2Connection+Session``) come from within ``receive`` and
/// ``flush``.
final class HTTP2Connection {
    enum State {
        /// The server has not yet said, by its first frame, that it speaks HTTP/2.
        case greeting
        case ready
        /// What is on it is finished; nothing new is begun.
        case draining
        case lost
    }

    /// The most reads in one turn, so that other connections have theirs.
    private static let readsPerTurnMax = 16

    let socket: CurlSocket
    let desk: CallDesk
    let configuration: HTTP2ClientConfiguration
    private let origin: OriginFields
    let session: NativeSession
    var output = OutputBuffer()
    var streams = SlotTable<Exchange>()
    /// The call whose head is coming.
    var headOf: Exchange?
    var state = State.greeting
    /// How many streams may be open at once.
    var streamsMax = 0
    /// Whether the server has ever answered a call.
    var hasAnswered = false
    /// Whether it ends because it is old.
    private(set) var isOld = false
    /// Why it was lost, or is going to be.
    private(set) var fault: String?
    /// Whether the socket takes no more for now.
    private(set) var isWriteBlocked = false
    /// Whether something may be left to read that no poll tells of, because libcurl holds it: what has come with the end of the TLS
    /// handshake, at first.
    private(set) var mayHoldInput = true
    private var clock: ConnectionClock

    init?(
        socket: CurlSocket, origin: OriginFields, desk: CallDesk, configuration: HTTP2ClientConfiguration,
        now: ContinuousClock.Instant
    ) {
        guard let session = NativeSession(configuration: configuration) else { return nil }
        self.session = session
        self.socket = socket
        self.origin = origin
        self.desk = desk
        self.configuration = configuration
        clock = ConnectionClock(configuration, now: now)
        self.session.attach(self)
    }

    var hasRoom: Bool { state == .ready && streams.count < streamsMax }
    /// Whether it is of no more use.
    var isOver: Bool { state == .lost || (state == .draining && streams.isEmpty) }

    /// Begins a call; returns false when this connection begins none any more.
    func open(_ exchange: Exchange, now: ContinuousClock.Instant) -> Bool {
        let slot = streams.insert(exchange)
        let fields = origin.fields(for: exchange.request, bodyByteCount: exchange.body.count)
        guard let stream = session.open(fields, hasBody: !exchange.body.isEmpty, slot: slot) else {
            streams.remove(slot)
            state = .draining
            return false
        }
        if exchange.body.isEmpty { exchange.criticalOffset = output.producedByteCount }
        if streams.count == 1 { clock.heard(now: now) }
        exchange.opened(on: self, streamID: stream)
        return true
    }

    /// Gives a call up, and tells the server.
    func abandon(_ exchange: Exchange, _ code: HTTPClientError.Code, _ message: String) {
        session.reset(exchange.streamID)
        fail(exchange, code, message)
    }

    func fail(_ exchange: Exchange, _ code: HTTPClientError.Code, _ message: String) {
        let error = HTTPClientError(code, mayHaveReachedServer: mayHaveReachedServer(exchange), message)
        desk.end(exchange, .failure(error))
    }

    /// Whether the server may hold a complete request.
    func mayHaveReachedServer(_ exchange: Exchange) -> Bool {
        exchange.criticalOffset.map { $0 < output.offeredByteCount } ?? false
    }

    /// Fails everything on it.
    func lose(_ reason: String) {
        guard state != .lost else { return }
        fault = state == .greeting ? "the server does not speak HTTP/2: \(reason)" : "the connection was lost: \(reason)"
        state = .lost
        for exchange in streams.elements where !exchange.isEnded {
            fail(exchange, mayHaveReachedServer(exchange) ? .ambiguous : .notSent, fault ?? reason)
        }
        streams.removeAll()
    }

    // MARK: Bytes

    /// Reads what is there.
    func receive(_ buffer: UnsafeMutableRawBufferPointer, now: ContinuousClock.Instant) {
        mayHoldInput = false
        for _ in 0..<Self.readsPerTurnMax {
            guard state != .lost else { return }
            switch socket.receive(into: buffer) {
            case .blocked: return
            case .failed(let reason): return lose(reason)
            case .done(0): return lose("the server has closed it")
            case .done(let count):
                clock.heard(now: now)
                do throws(NativeSession.Fault) {
                    try session.receive(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                } catch {
                    return lose(error.reason)
                }
            }
        }
        mayHoldInput = true
    }

    /// Writes what can be written.
    func flush() {
        while state != .lost {
            if output.isEmpty { fill() }
            if output.isEmpty { break }
            switch socket.send(output.offer()) {
            case .done(let count): output.remove(count)
            case .blocked:
                isWriteBlocked = true
                return
            case .failed(let reason): lose(reason)
            }
        }
        isWriteBlocked = false
        // nghttp2 has told a server that broke the protocol so, and now it reads no more.
        if !isOver, session.isDone { lose("the server broke the protocol") }
    }

    private func fill() {
        do throws(NativeSession.Fault) {
            while !output.isFull {
                let bytes = try session.nextOutput()
                if bytes.isEmpty { return }
                output.append(bytes)
            }
        } catch {
            lose(error.reason)
        }
    }

    /// Takes leave of the server, as far as the socket takes it at once.
    func close() {
        guard state != .lost else { return }
        session.goAway()
        flush()
    }

    // MARK: Time

    /// When ``tick(now:)`` has something to do; nil when never.
    var nextTick: ContinuousClock.Instant? { clock.next(isBusy: !streams.isEmpty) }

    /// Notes that the server speaks HTTP/2.
    func greeted() {
        guard state == .greeting else { return }
        state = .ready
        clock.greeted(now: .now)
    }

    /// Does what is due: ends a connection that is old or whose server is silent.
    func tick(now: ContinuousClock.Instant) {
        switch clock.due(now: now, isBusy: !streams.isEmpty) {
        case .nothing: break
        case .ungreeted: lose("it says nothing")
        case .old where state == .ready: (state, isOld) = (.draining, true)
        case .old: break
        case .ask: session.ping()
        case .silent: lose("the server is silent")
        }
    }
}
