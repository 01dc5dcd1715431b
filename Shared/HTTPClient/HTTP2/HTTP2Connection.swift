/// One connection with its socket, its nghttp2 session and its calls.
///
/// Confined to the client's thread. The session's callbacks (``HTTP2Connection+Session``) run within ``receive`` and
/// ``flush``.
final class HTTP2Connection {
    enum State {
        /// The server has not yet sent its SETTINGS frame, which shows that it speaks HTTP/2.
        case awaitingSettings
        case ready
        /// Open calls finish; no call is started.
        case draining
        case failed
    }

    /// The calls that may start on a connection.
    enum Use {
        case allCalls
        /// So that they do not queue behind the bytes of others, here, in the network and at the server.
        case urgentCalls
    }

    /// Limit of reads in one iteration of the loop, so that other connections are read as well.
    private static let maxReadsPerIteration = 16

    let socket: CurlSocket
    let use: Use
    let registry: CallRegistry
    let configuration: HTTP2ClientConfiguration
    private let origin: HTTP2Origin
    let session: NativeSession
    var output = OutputBuffer()
    var streams = SlotTable<Call>()
    /// The call whose header block is being received.
    var callReceivingHead: Call?
    var state = State.awaitingSettings
    /// The most streams that may be open at once.
    var maxStreams = 0
    /// Whether the server has answered at least one call.
    var hasAnswered = false
    /// Whether the connection drains because it reached its lifetime.
    private(set) var isOld = false
    /// The reason of a failure.
    private(set) var fault: String?
    /// Whether the last write was blocked.
    private(set) var isWriteBlocked = false
    /// Whether libcurl may hold bytes that a poll does not report; at first, the bytes that came with the end of the TLS handshake.
    private(set) var mayHoldInput = true
    private var clock: ConnectionClock

    init?(
        socket: CurlSocket, use: Use, origin: HTTP2Origin, registry: CallRegistry, configuration: HTTP2ClientConfiguration,
        now: ContinuousClock.Instant
    ) {
        guard let session = NativeSession(configuration: configuration) else { return nil }
        self.session = session
        self.socket = socket
        self.use = use
        self.origin = origin
        self.registry = registry
        self.configuration = configuration
        clock = ConnectionClock(configuration, now: now)
        self.session.attach(self)
    }

    var hasRoom: Bool { state == .ready && streams.count < maxStreams }
    /// Whether no call starts on it any more.
    var isEnding: Bool { state == .draining || state == .failed }
    /// Whether the connection can be removed.
    var isFinished: Bool { state == .failed || (state == .draining && streams.isEmpty) }

    /// Opens a stream for a call; returns false when the session opens no more streams.
    func open(_ call: Call, now: ContinuousClock.Instant) -> Bool {
        precondition(hasRoom, "a stream is opened on a ready connection below its limit only")
        let slot = streams.insert(call)
        let fields = call.request.fields(to: origin, bodyByteCount: call.body.count)
        guard let stream = session.open(fields, hasBody: !call.body.isEmpty, slot: slot) else {
            streams.remove(slot)
            state = .draining
            return false
        }
        if call.body.isEmpty { call.criticalOffset = output.producedByteCount }
        clock.requestBegan(now: now)
        call.opened(on: self, streamID: stream)
        return true
    }

    /// Fails a call and resets its stream.
    func abandon(_ call: Call, _ code: HTTPClientError.Code, _ message: String) {
        session.reset(call.streamID)
        fail(call, code, message)
    }

    func fail(_ call: Call, _ code: HTTPClientError.Code, _ message: String) {
        let error = HTTPClientError(code, mayHaveReachedServer: mayHaveReachedServer(call), message)
        registry.end(call, .failure(error))
    }

    /// Whether the server may hold a complete request.
    func mayHaveReachedServer(_ call: Call) -> Bool {
        call.criticalOffset.map { $0 < output.offeredByteCount } ?? false
    }

    /// Marks the connection as failed and fails all its calls.
    func fail(_ reason: String) {
        guard state != .failed else { return }
        fault = state == .awaitingSettings ? "the server does not speak HTTP/2: \(reason)" : "the connection was lost: \(reason)"
        state = .failed
        for call in streams.elements where !call.isEnded {
            fail(call, mayHaveReachedServer(call) ? .ambiguous : .notSent, fault ?? reason)
        }
        streams.removeAll()
    }

    // MARK: Bytes

    /// Reads the available bytes and passes them to the session.
    func receive(_ buffer: UnsafeMutableRawBufferPointer, now: ContinuousClock.Instant) {
        mayHoldInput = false
        for _ in 0..<Self.maxReadsPerIteration {
            guard state != .failed else { return }
            switch socket.receive(into: buffer) {
            case .blocked: return
            case .failed(let reason): return fail(reason)
            case .done(0): return fail("the server closed it")
            case .done(let count):
                do throws(NativeSession.Fault) {
                    try session.receive(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                } catch {
                    return fail(error.reason)
                }
                clock.bytesReceived(now: now, isBusy: !streams.isEmpty)
            }
        }
        mayHoldInput = true
    }

    /// Writes output until all is written or the socket blocks.
    func flush() {
        while state != .failed {
            if output.isEmpty { fill() }
            if output.isEmpty { break }
            switch socket.send(output.offer()) {
            case .done(let count): output.remove(count)
            case .blocked:
                isWriteBlocked = true
                return
            case .failed(let reason): fail(reason)
            }
        }
        isWriteBlocked = false
        // After a protocol error of the server, nghttp2 sends GOAWAY and then reads and writes no more.
        if !isFinished, session.isDone { fail("the server violated the protocol") }
    }

    private func fill() {
        do throws(NativeSession.Fault) {
            while !output.isFull {
                let bytes = try session.nextOutput()
                if bytes.isEmpty { return }
                output.append(bytes)
            }
        } catch {
            fail(error.reason)
        }
    }

    /// Sends GOAWAY, as far as the socket accepts it without blocking.
    func close() {
        guard state != .failed else { return }
        session.goAway()
        flush()
    }

    // MARK: Time

    /// The time of the next action of ``tick(now:)``; nil when no action is due.
    var nextTick: ContinuousClock.Instant? { clock.next }

    /// Allows calls, once the server's SETTINGS frame is there.
    func markReady() {
        guard state == .awaitingSettings else { return }
        state = .ready
        clock.settingsReceived(now: .now)
    }

    /// Drains a connection at the end of its lifetime, pings a silent server, and fails the connection if that stays silent.
    func tick(now: ContinuousClock.Instant) {
        switch clock.due(now: now) {
        case .nothing: break
        case .settingsOverdue: fail("it sent no SETTINGS frame in time")
        case .old where state == .ready: (state, isOld) = (.draining, true)
        case .old: break
        case .ping: session.ping()
        case .silent: fail("the server is silent")
        }
    }
}
