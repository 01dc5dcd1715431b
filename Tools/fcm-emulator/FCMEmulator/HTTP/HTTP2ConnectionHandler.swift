import NIOCore
import NIOHPACK
import NIOHTTP2

/// One connection of HTTP/2, served frame by frame on its event loop.
///
/// A request of Google's two endpoints is answered in the read that completes it, without a task, a channel or a JSON tree for
/// each, because thousands arrive in a second. This also makes the faults exact: a stream is reset with exactly the error of the
/// rule, and GOAWAY names the last stream that is served. All other requests go to the router.
final class HTTP2ConnectionHandler: ChannelInboundHandler {
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

    private let core: EmulatorCore
    private let router: RouterBridge
    private let number: Int
    private var streams: [HTTP2StreamID: Stream] = [:]
    private var receivedBytes = 0
    /// The last stream that is served; nil while all streams are.
    private var last: HTTP2StreamID?
    /// The highest stream that was handled; requests may complete in another order than that of their numbers.
    private var handled = HTTP2StreamID.rootStream
    private var isClosing = false
    /// Time a connection that serves no more streams waits for its client to close it.
    private static let closingGrace = TimeAmount.seconds(1)

    init(core: EmulatorCore, router: RouterBridge, number: Int) {
        self.core = core
        self.router = router
        self.number = number
    }

    /// Puts the connection's handlers into its pipeline; on the channel's event loop.
    static func configure(_ channel: any Channel, core: EmulatorCore, router: RouterBridge) throws {
        var connection = NIOHTTP2Handler.ConnectionConfiguration()
        connection.initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: maxStreams),
            HTTP2Setting(parameter: .maxHeaderListSize, value: HPACKDecoder.defaultMaxHeaderListSize),
            // A whole body fits, so that no stream waits for its window.
            HTTP2Setting(parameter: .initialWindowSize, value: max(initialWindow, core.configuration.limits.bodyBytes * 2)),
        ]
        var stream = NIOHTTP2Handler.StreamConfiguration()
        // NIO closes a connection whose client resets more than 200 streams in 30 seconds. libcurl 7.88 resets many streams whose
        // answers it has read, so a busy libcurl client exceeds that. FCM's reaction is not known.
        stream.streamResetFrameRateLimit.maximumCount = 1_000_000
        stream.streamErrorRateLimit.maximumCount = 1_000_000
        let number = core.connections.add(channel)
        core.count { $0.connections += 1 }
        try channel.pipeline.syncOperations.addHandlers([
            NIOHTTP2Handler(mode: .server, connectionConfiguration: connection, streamConfiguration: stream),
            HTTP2ConnectionHandler(core: core, router: router, number: number),
        ])
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
            // Trailers are ignored; a stream after the last is not served: the client repeats it on another connection.
            if streams[id] == nil, last.map({ id <= $0 }) ?? true { streams[id] = Stream(head: headers.headers) }
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

    private func receive(_ bytes: ByteBuffer, _ id: HTTP2StreamID) {
        // One byte over the limit is enough to detect that it was exceeded.
        let room = core.configuration.limits.bodyBytes + 1 - (streams[id]?.body.count ?? 0)
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

extension HTTP2ConnectionHandler {
    private func handle(_ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
        guard let stream = streams[id], stream.work == nil else { return }
        handled = max(handled, id)
        let path = stream.head.first(name: ":path") ?? ""
        let isPost = stream.head.first(name: ":method") == "POST"
        let line = RequestLog.Line(connection: number, stream: Int(id))
        if isPost, let project = Self.project(ofSend: path) {
            let desk = SendDesk(core: core)
            let isTooLong = stream.body.count > core.configuration.limits.bodyBytes
            let authorization = stream.head.first(name: "authorization")
            let outcome =
                isTooLong
                ? desk.tooLarge(line: line)
                : desk.handle(stream.body, project: project, authorization: authorization, line: line)
            carryOut(outcome, id, context)
        } else if isPost, path == "/token" {
            carryOut(TokenDesk(core: core).handle(stream.body, line: line), id, context)
        } else {
            let channel = context.channel
            let task = Task { [router] in
                await router.respond(to: stream.head, body: stream.body, on: channel, stream: id)
            }
            streams[id]?.work = .route(task)
        }
    }

    /// Returns the project of `/v1/projects/{project}/messages:send`; nil for another path.
    static func project(ofSend path: String) -> String? {
        let (path, start, end) = (path.utf8, "/v1/projects/".utf8, "/messages:send".utf8)
        guard path.count > start.count + end.count, path.starts(with: start), path.suffix(end.count).elementsEqual(end) else {
            return nil
        }
        let project = Substring(path.dropFirst(start.count).dropLast(end.count))
        return project.utf8.contains(UInt8(ascii: "/")) ? nil : PercentCoding.decode(project)
    }

    private func carryOut(_ outcome: RequestOutcome, _ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
        if outcome.isLast, last == nil { goAway(context) }
        guard outcome.delay > .zero else { return end(outcome, id, context) }
        let longest = Duration.seconds(core.configuration.limits.delaySeconds)
        streams[id]?.work = .delay(
            context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(min(outcome.delay, longest))) {
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
            write(.headers(.init(headers: reply.headers, endStream: isEmpty)), id, context)
            if !isEmpty { write(.data(.init(data: .byteBuffer(reply.body), endStream: true)), id, context) }
        case .hang:
            // The stream stays open, and counts towards the limit of 100, until the client resets it.
            break
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
    /// A client takes later streams for unprocessed and repeats them, so none of them may have been handled.
    private func goAway(_ context: ChannelHandlerContext) {
        let id = handled
        last = id
        core.count { $0.goAways += 1 }
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
