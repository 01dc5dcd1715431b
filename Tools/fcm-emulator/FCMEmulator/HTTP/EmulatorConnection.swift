import NIOCore
import NIOHPACK
import NIOHTTP1
import NIOHTTP2

/// One connection, served frame by frame on its event loop; ``HTTP1Codec`` makes frames of HTTP/1.1.
///
/// A request of Google's two endpoints is answered in the read that completes it, without a task, a channel or a JSON tree for
/// each, because thousands arrive in a second. This also makes the faults exact: a stream is reset with exactly the error of the
/// rule, and GOAWAY names the last stream that is served. All other requests go to the router.
final class EmulatorConnection: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    /// A request that is not answered yet.
    private struct Stream {
        let head: HPACKHeaders
        var body: [UInt8] = []
        var work: Work?
    }

    /// The work that a request waits for.
    private enum Work {
        case delay(Scheduled<Void>)
        case route(Task<Void, Never>)

        func cancel() {
            switch self {
            case .delay(let scheduled): scheduled.cancel()
            case .route(let task): task.cancel()
            }
        }
    }

    /// Maximum number of concurrent streams, as FCM announces it.
    static let maxStreams = 100
    /// Flow-control window of the connection, in bytes.
    private static let connectionWindow = 16_777_216
    /// The initial window of the protocol, in bytes.
    private static let initialWindow = 65_535
    /// Number of received bytes after which the window of the client is restored.
    private static let windowUpdateBytes = 1_048_576

    private let service: EmulatorService
    private let isHTTP2: Bool
    private let number: Int
    private var streams: [HTTP2StreamID: Stream] = [:]
    private var receivedBytes = 0
    /// The last stream that is served; nil while all streams are.
    private var last: HTTP2StreamID?
    /// The highest stream that was handled; requests may complete in another order than their numbers.
    private var handled = HTTP2StreamID.rootStream
    private var isClosing = false
    /// Time a connection that serves no more streams waits for its client to close it.
    private static let closingGrace = TimeAmount.seconds(1)

    private init(_ service: EmulatorService, isHTTP2: Bool, number: Int) {
        self.service = service
        self.isHTTP2 = isHTTP2
        self.number = number
    }

    /// Puts the connection's handlers into its pipeline; on the channel's event loop.
    static func configure(_ channel: any Channel, _ service: EmulatorService, isHTTP2: Bool) throws {
        let pipeline = channel.pipeline.syncOperations
        if isHTTP2 {
            try pipeline.addHandler(WriteCoalescer())
            try pipeline.addHandler(http2Handler(maxBodyBytes: service.maxBodyBytes))
            service.connections.count { $0.http2 += 1 }
        } else {
            try pipeline.configureHTTPServerPipeline()
            try pipeline.addHandler(HTTP1Codec())
        }
        try pipeline.addHandler(EmulatorConnection(service, isHTTP2: isHTTP2, number: service.connections.add(channel)))
    }

    private static func http2Handler(maxBodyBytes: Int) -> NIOHTTP2Handler {
        var connection = NIOHTTP2Handler.ConnectionConfiguration()
        // `HeaderBlock` validates the client's headers, and `FaultRule` the headers that its rules add to answers; all other headers are
        // made here.
        connection.headerBlockValidation = .disabled
        connection.initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: maxStreams),
            HTTP2Setting(parameter: .maxHeaderListSize, value: HPACKDecoder.defaultMaxHeaderListSize),
            // A whole body fits, so that no stream waits for its window.
            HTTP2Setting(parameter: .initialWindowSize, value: max(initialWindow, maxBodyBytes * 2)),
        ]
        var stream = NIOHTTP2Handler.StreamConfiguration()
        // NIO closes a connection whose client resets more than 200 streams in 30 seconds. libcurl 7.88 resets many streams whose
        // answers it has read, so a busy libcurl client exceeds that. FCM's reaction is not known.
        stream.streamResetFrameRateLimit.maximumCount = 1_000_000
        stream.streamErrorRateLimit.maximumCount = 1_000_000
        return NIOHTTP2Handler(mode: .server, connectionConfiguration: connection, streamConfiguration: stream)
    }

    // MARK: Frames

    func handlerAdded(context: ChannelHandlerContext) {
        guard context.channel.isActive else { return }
        let increment = Self.connectionWindow - Self.initialWindow
        write(.windowUpdate(windowSizeIncrement: increment), .rootStream, context)
        context.flush()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        let id = frame.streamID
        switch frame.payload {
        case .headers(let headers):
            guard receive(headers.headers, id) else { return refuse(id, context) }
            if headers.endStream { handle(id, context) }
        case .data(let data):
            release(data.data.readableBytes + (data.paddingBytes ?? 0), context)
            if case .byteBuffer(let bytes) = data.data, streams[id] != nil { receive(bytes, id) }
            if data.endStream { handle(id, context) }
        default: break
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.flush()
        context.fireChannelReadComplete()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let closed = event as? StreamClosedEvent { streams.removeValue(forKey: closed.streamID)?.work?.cancel() }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        for stream in streams.values { stream.work?.cancel() }
        streams = [:]
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The error of one stream does not affect the others: NIO has reset the stream.
        if error is NIOHTTP2Errors.StreamError { return }
        // The answers of this read are written, but not flushed yet.
        context.flush()
        context.close(promise: nil)
    }

    /// Takes the head of a request, or its trailers, which are ignored; false when they are malformed.
    private func receive(_ headers: HPACKHeaders, _ id: HTTP2StreamID) -> Bool {
        if streams[id] != nil { return HeaderBlock.isTrailer(headers) }
        // A stream after the last is not served: the client repeats it on another connection.
        if let last, id > last { return true }
        guard !isHTTP2 || HeaderBlock.isRequest(headers) else { return false }
        streams[id] = Stream(head: headers)
        return true
    }

    /// Resets the stream of a malformed request (RFC 9113 § 8.1.1).
    private func refuse(_ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
        streams.removeValue(forKey: id)?.work?.cancel()
        write(.rstStream(.protocolError), id, context)
        closeWhenDone(context)
    }

    private func receive(_ bytes: ByteBuffer, _ id: HTTP2StreamID) {
        // One byte over the limit is enough to detect that it was exceeded.
        let room = service.maxBodyBytes + 1 - (streams[id]?.body.count ?? 0)
        streams[id]?.body.append(contentsOf: bytes.readableBytesView.prefix(max(room, 0)))
    }

    private func release(_ bytes: Int, _ context: ChannelHandlerContext) {
        receivedBytes += bytes
        guard receivedBytes >= Self.windowUpdateBytes else { return }
        write(.windowUpdate(windowSizeIncrement: receivedBytes), .rootStream, context)
        receivedBytes = 0
    }

    private func write(_ payload: HTTP2Frame.FramePayload, _ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(HTTP2Frame(streamID: id, payload: payload)), promise: nil)
    }
}

// MARK: Requests

extension EmulatorConnection {
    private func handle(_ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
        guard let stream = streams[id], stream.work == nil else { return }
        handled = max(handled, id)
        let line = RequestLog.Line(connection: number, stream: isHTTP2 ? Int(id) : nil)
        if let outcome = service.outcome(stream.head, stream.body, line) {
            carryOut(outcome, id, context)
        } else {
            let (channel, router) = (context.channel, service.router)
            let task = Task { await router.respond(to: stream.head, body: stream.body, on: channel, stream: id) }
            streams[id]?.work = .route(task)
        }
    }

    private func carryOut(_ outcome: RequestOutcome, _ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
        if outcome.isLast, last == nil, isHTTP2 { goAway(context) }
        guard outcome.delay > .zero else { return end(outcome, id, context) }
        streams[id]?.work = .delay(
            context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(min(outcome.delay, service.maxDelay))) {
                guard self.streams[id] != nil else { return }
                self.end(outcome, id, context)
                context.flush()
            })
    }

    private func end(_ outcome: RequestOutcome, _ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
        switch outcome.fate {
        case .reply(let reply):
            streams[id] = nil
            let isEmpty = reply.body.readableBytes == 0
            var headers = reply.headers
            if outcome.isLast, !isHTTP2 { headers.add(name: "connection", value: "close") }
            write(.headers(.init(headers: headers, endStream: isEmpty)), id, context)
            if !isEmpty { write(.data(.init(data: .byteBuffer(reply.body), endStream: true)), id, context) }
        case .hang:
            // The stream stays open, and counts towards the limit of 100, until the client resets it. HTTP/1.1 has no reset.
            if !isHTTP2 {
                streams[id]?.work = .delay(
                    context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(service.maxDelay)) { context.close(promise: nil) })
            }
        case .dropConnection:
            streams = [:]
            return context.close(promise: nil)
        case .resetStream(let reset):
            streams[id] = nil
            write(.rstStream(reset.code), id, context)
        }
        closeWhenDone(context)
    }

    /// Sends GOAWAY with the last handled stream: streams up to it are served, later ones are not.
    ///
    /// A client takes later streams for unprocessed and repeats them, so no later stream may have been handled.
    private func goAway(_ context: ChannelHandlerContext) {
        let id = handled
        last = id
        service.connections.count { $0.goAways += 1 }
        for (stream, state) in streams where stream > id {
            state.work?.cancel()
            streams[stream] = nil
        }
        tellGoAway(last: id, context)
    }

    /// Writes the GOAWAY frame past NIO's handler, for which the streams after the last stay open, without an answer. If NIO saw
    /// the frame, the body of a stream that a client began before it received GOAWAY would be a protocol error and close the
    /// connection.
    private func tellGoAway(last: HTTP2StreamID, _ context: ChannelHandlerContext) {
        var frame = ByteBuffer()
        // Length of the payload, type, no flags, stream 0; then the last stream and NO_ERROR (RFC 9113 § 6.8).
        frame.writeBytes([0, 0, 8, 7, 0, 0, 0, 0, 0])
        frame.writeMultipleIntegers(Int32(last), UInt32(0))
        let wire = try? context.pipeline.syncOperations.context(handlerType: NIOHTTP2Handler.self)
        wire?.writeAndFlush(NIOAny(IOData.byteBuffer(frame)), promise: nil)
    }

    private func closeWhenDone(_ context: ChannelHandlerContext) {
        guard last != nil, streams.isEmpty, !isClosing else { return }
        isClosing = true
        // The client closes the connection; closing it here at once might lose answers that are in transit.
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.closingGrace) { context.close(promise: nil) }
    }
}
