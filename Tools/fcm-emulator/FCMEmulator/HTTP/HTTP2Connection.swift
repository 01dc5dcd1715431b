import NIOCore
import NIOHPACK
import NIOHTTP2

/// One connection of HTTP/2, served frame by frame on its event loop.
///
/// A request of Google's two endpoints is answered in the read that completes it: no task, no channel and no tree of
/// JSON for each, because thousands come a second. It also is what makes the faults exact: a stream is reset with the
/// very error that is asked for, and GOAWAY names the last stream that is served. Everything else goes to the router.
final class HTTP2Connection: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    /// A request that is not answered yet.
    private struct Stream {
        let head: HPACKHeaders
        var body: [UInt8] = []
        var work: Work?
    }

    /// What a request waits for.
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

    /// What FCM announces.
    static let streamsMax = 100
    /// How much a client may send ahead on the connection, in bytes.
    private static let connectionWindow = 16_777_216
    /// The window that the protocol begins with, in bytes.
    private static let initialWindow = 65_535
    /// The client is given its window back whenever it has used so much, in bytes.
    private static let windowUpdateBytes = 1_048_576

    private let core: EmulatorCore
    private let router: RouterBridge
    private let number: Int
    private var streams: [HTTP2StreamID: Stream] = [:]
    private var receivedBytes = 0
    /// The last stream that is served; nil while all are.
    private var last: HTTP2StreamID?
    /// The last stream that was handled, in the order of their numbers: requests may be complete in another.
    private var handled = HTTP2StreamID.rootStream
    private var isClosing = false
    /// How long a connection that serves nothing more waits for its client to close it.
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
            HTTP2Setting(parameter: .maxConcurrentStreams, value: streamsMax),
            HTTP2Setting(parameter: .maxHeaderListSize, value: HPACKDecoder.defaultMaxHeaderListSize),
            // A whole body fits, so that no stream ever waits for its window.
            HTTP2Setting(parameter: .initialWindowSize, value: max(initialWindow, core.configuration.limits.bodyBytes * 2)),
        ]
        var stream = NIOHTTP2Handler.StreamConfiguration()
        // NIO ends a connection whose client resets more than 200 streams in 30 seconds. libcurl 7.88 resets many a
        // stream whose answer it has read, so a busy client of it gets there. What FCM does then is not known.
        stream.streamResetFrameRateLimit.maximumCount = 1_000_000
        stream.streamErrorRateLimit.maximumCount = 1_000_000
        let number = core.connections.add(channel)
        core.count { $0.connections += 1 }
        try channel.pipeline.syncOperations.addHandlers([
            NIOHTTP2Handler(mode: .server, connectionConfiguration: connection, streamConfiguration: stream),
            HTTP2Connection(core: core, router: router, number: number),
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
            // Trailers say nothing here; a stream after the last is the client's to repeat elsewhere.
            if streams[id] == nil, last.map({ id <= $0 }) ?? true { streams[id] = Stream(head: headers.headers) }
            if headers.endStream { handle(id, context) }
        case .data(let data):
            giveBack(data.data.readableBytes + (data.paddingBytes ?? 0), context)
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
        // One stream's error leaves the others alone: NIO has reset the stream.
        if error is NIOHTTP2Errors.StreamError { return }
        // What was answered in this read is written, but not flushed yet.
        context.flush()
        context.close(promise: nil)
    }

    private func receive(_ bytes: ByteBuffer, _ id: HTTP2StreamID) {
        // One byte over the limit is enough to know that it was passed.
        let room = core.configuration.limits.bodyBytes + 1 - (streams[id]?.body.count ?? 0)
        streams[id]?.body.append(contentsOf: bytes.readableBytesView.prefix(max(room, 0)))
    }

    private func giveBack(_ bytes: Int, _ context: ChannelHandlerContext) {
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

extension HTTP2Connection {
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
            let verdict =
                isTooLong
                ? desk.tooLarge(line: line)
                : desk.handle(stream.body, project: project, authorization: authorization, line: line)
            carryOut(verdict, id, context)
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

    /// The project of `/v1/projects/{project}/messages:send`, nil when that is not the path.
    static func project(ofSend path: String) -> String? {
        let (path, start, end) = (path.utf8, "/v1/projects/".utf8, "/messages:send".utf8)
        guard path.count > start.count + end.count, path.starts(with: start), path.suffix(end.count).elementsEqual(end) else {
            return nil
        }
        let project = Substring(path.dropFirst(start.count).dropLast(end.count))
        return project.utf8.contains(UInt8(ascii: "/")) ? nil : PercentCoding.decode(project)
    }

    private func carryOut(_ verdict: Verdict, _ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
        if verdict.isLast, last == nil { goAway(context) }
        guard verdict.delay > .zero else { return end(verdict, id, context) }
        let longest = Duration.seconds(core.configuration.limits.delaySeconds)
        streams[id]?.work = .delay(
            context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(min(verdict.delay, longest))) {
                guard self.streams[id] != nil else { return }
                self.end(verdict, id, context)
                context.flush()
            })
    }

    private func end(_ verdict: Verdict, _ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
        switch verdict.fate {
        case .reply(let reply):
            streams[id] = nil
            let isEmpty = reply.body.readableBytes == 0
            write(.headers(.init(headers: reply.headers, endStream: isEmpty)), id, context)
            if !isEmpty { write(.data(.init(data: .byteBuffer(reply.body), endStream: true)), id, context) }
        case .hang:
            // The stream stays, and counts among the hundred, until the client lets it go.
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

    /// Tells the client that no stream is served after the last that was handled; those before it are.
    ///
    /// A client takes what comes after the last for unprocessed, and repeats it: so none of those may have been handled.
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

    /// Sends GOAWAY past NIO, to whom the streams after the last stay open, with nobody to answer them: had NIO seen it, the
    /// body of a stream that a client began before it heard would be a breach of the protocol, and end the connection.
    private func tellGoAway(last: HTTP2StreamID, _ context: ChannelHandlerContext) {
        var frame = ByteBuffer()
        // The payload's length, the type, no flags, the connection; the last stream, and no error (RFC 9113 § 6.8).
        frame.writeBytes([0, 0, 8, 7, 0, 0, 0, 0, 0])
        frame.writeMultipleIntegers(Int32(last), UInt32(0))
        let wire = try? context.pipeline.syncOperations.context(handlerType: NIOHTTP2Handler.self)
        wire?.writeAndFlush(NIOAny(IOData.byteBuffer(frame)), promise: nil)
    }

    private func closeWhenDone(_ context: ChannelHandlerContext) {
        guard last != nil, streams.isEmpty, !isClosing else { return }
        isClosing = true
        // Its client is to close it; one that was closed here at once might lose answers that are under way.
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.closingGrace) { context.close(promise: nil) }
    }
}
