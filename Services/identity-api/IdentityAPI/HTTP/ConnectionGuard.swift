internal import NIOCore

/// An event of a ``RequestWatch`` that changes how long the ``ConnectionGuard`` waits for the client.
enum ClientEvent: Sendable {
    /// The head of a request is complete.
    case requestBegan
    /// A request announced a body, whose pace is measured from now on.
    case bodyBegan
    /// The same, for a client that waits for `100 Continue`, which the guard sends now.
    case bodyAskedFor
    /// Another client needs the slot of the body that is received; nothing happens once the body is complete.
    case bodyDisplaced
    /// The request is complete.
    case bodyEnded
    /// A request was answered.
    case answered
    /// The request was answered before its body was read, and the rest is not worth reading: read on a little, so that the client
    /// receives the answer and not a connection reset, and then close.
    case answeredEarly
}

/// The error of a body that arrives too slowly or takes too long.
struct BodyTooSlow: Error {}

/// The error of a body whose slot another client needs; see ``TransferQuota``.
struct BodyDisplaced: Error {}

/// Limits the time that the server waits for the client of one connection; the first handler of its pipeline.
///
/// Time counts against a client only while the server reads: while the server is busy writing to its disk and does not read, the
/// client cannot send.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// The limits of a connection.
    struct Limits: Sendable {
        /// The maximum size, and number, of a request's header fields.
        var headBytes = 16 * 1024
        var headFields = 100
        /// The least and the greatest time for a head, from its first byte. Each head has a time between them: connections that were opened
        /// together are then not closed together, and their client does not open thousands at once again.
        var headTime = TimeAmount.seconds(6)...TimeAmount.seconds(10)
        /// The maximum time for a whole body.
        var bodyDeadline = TimeAmount.seconds(300)
        /// The total time that the server waits for a client's body, in addition to the time that received bytes earn.
        var patience = TimeAmount.seconds(15)
        /// The bytes, sent or received by the client, that earn it another second.
        var bytesASecond = 8 * 1024
        /// The time that a client may leave responses unread that its connection has no room for; bytes that it reads earn used time back.
        var unreadAnswers = TimeAmount.seconds(30)
        /// The maximum time for the response to a body that arrived too slowly.
        var refusalTime = TimeAmount.seconds(30)
        /// The time, and the number of bytes, for which a refused body is still read after the response.
        var lingerTime = TimeAmount.seconds(5)
        var lingerBytes = 8 * 1024 * 1024
    }

    private static let tick = TimeAmount.milliseconds(500)
    /// The maximum number of bytes of a response that are written to the connection at once.
    private static let sliceBytes = 64 * 1024

    private enum Mode { case idle, body, refusing, lingering }

    private let limits: Limits
    private let connection: OpenConnection?
    private var mode = Mode.idle
    /// The requests that have begun and are not answered.
    private var requests = 0
    /// Whether bytes have arrived that may be the beginning of a head.
    private var hasOpenHead = false
    private var headTimer: Scheduled<Void>?
    private var startedAt = NIODeadline.now()
    private var readAskedAt: NIODeadline?
    private var waited = TimeAmount.zero
    private var received = 0
    private var timer: RepeatedTask?
    private var unread: WriteStallBudget
    private var unreadTimer: RepeatedTask?
    /// The promises of ``FlushedEvent``s, which complete when all written bytes are flushed.
    private var whenTaken: [EventLoopPromise<Void>] = []

    /// Guards a connection.
    ///
    /// - Parameter connection: Its place among the open connections; nil for a connection that is not counted.
    init(limits: Limits, connection: OpenConnection? = nil) {
        self.limits = limits
        self.connection = connection
        unread = WriteStallBudget(patience: limits.unreadAnswers, bytesASecond: limits.bytesASecond)
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        if event is FlushedEvent, let promise {
            return unread.isEmpty ? promise.succeed() : whenTaken.append(promise)
        }
        guard let event = event as? ClientEvent else {
            return context.triggerUserOutboundEvent(event, promise: promise)
        }
        promise?.succeed()
        switch event {
        case .requestBegan:
            headEnded()
            requests += 1
            connection?.began()
        case .bodyBegan:
            headEnded()
            if mode == .idle { enter(.body, context) }
        case .bodyAskedFor:
            if mode == .idle { enter(.body, context) }
            context.writeAndFlush(wrapOutboundOut(.byteBuffer(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n"))), promise: nil)
        case .bodyDisplaced:
            if mode == .body { refuse(BodyDisplaced(), context) }
        case .bodyEnded:
            headEnded()
            if mode == .body { enter(.idle, context) }
        case .answered:
            answered()
            if mode == .refusing { enter(.lingering, context) }
        case .answeredEarly:
            answered()
            enter(.lingering, context)
        }
    }

    private func answered() {
        requests = max(0, requests - 1)
        if requests == 0 { connection?.ended() }
    }

    private func headEnded() {
        hasOpenHead = false
        headTimer?.cancel()
        headTimer = nil
    }

    func read(context: ChannelHandlerContext) {
        if readAskedAt == nil { readAskedAt = .now() }
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += unwrapInboundIn(data).readableBytes
        if let askedAt = readAskedAt {
            waited = waited + (NIODeadline.now() - askedAt)
            readAskedAt = nil
        }
        if mode == .lingering || mode == .refusing, received > limits.lingerBytes { return context.close(promise: nil) }
        if mode == .idle { hasOpenHead = true }
        context.fireChannelRead(data)
        // The decoder behind this handler has said by now whether these bytes complete a head.
        guard hasOpenHead, headTimer == nil else { return }
        let boundContext = NIOLoopBound(context, eventLoop: context.eventLoop)
        let time = TimeAmount.nanoseconds(.random(in: limits.headTime.lowerBound.nanoseconds...limits.headTime.upperBound.nanoseconds))
        headTimer = context.eventLoop.scheduleTask(in: time) { boundContext.value.close(promise: nil) }
    }

    /// Writes a response in slices, so that flushed bytes of a large one count as they are flushed, and closes the connection of a client
    /// that reads its responses too slowly.
    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .byteBuffer(var bytes) = unwrapOutboundIn(data), bytes.readableBytes > 0 else {
            return context.write(data, promise: promise)
        }
        while bytes.readableBytes > Self.sliceBytes, let slice = bytes.readSlice(length: Self.sliceBytes) {
            write(slice, context, promise: context.eventLoop.makePromise())
        }
        write(bytes, context, promise: promise ?? context.eventLoop.makePromise())
    }

    private func write(_ slice: ByteBuffer, _ context: ChannelHandlerContext, promise: EventLoopPromise<Void>) {
        let count = slice.readableBytes
        unread.wrote(count, now: .now())
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        promise.futureResult.whenComplete { bound.value.taken(count, $0) }
        if unreadTimer == nil {
            let boundContext = NIOLoopBound(context, eventLoop: context.eventLoop)
            unreadTimer = context.eventLoop.scheduleRepeatedTask(initialDelay: Self.tick, delay: Self.tick) { _ in
                if bound.value.unread.isTooSlow(now: .now()) { boundContext.value.close(promise: nil) }
            }
        }
        context.write(wrapOutboundOut(.byteBuffer(slice)), promise: promise)
    }

    private func taken(_ count: Int, _ result: Result<Void, any Error>) {
        unread.took(count, now: .now())
        // A closing connection fails its unflushed writes before it reports that it is closed.
        if case .failure = result { tellWaiting(result) }
        guard unread.isEmpty else { return }
        unreadTimer?.cancel()
        unreadTimer = nil
        tellWaiting(result)
    }

    private func tellWaiting(_ result: Result<Void, any Error>) {
        for promise in whenTaken { promise.completeWith(result) }
        whenTaken = []
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        stopTimers()
        tellWaiting(.failure(ChannelError.ioOnClosedChannel))
    }

    func channelInactive(context: ChannelHandlerContext) {
        stopTimers()
        context.fireChannelInactive()
    }

    private func stopTimers() {
        timer?.cancel()
        headTimer?.cancel()
        unreadTimer?.cancel()
    }

    private func enter(_ mode: Mode, _ context: ChannelHandlerContext) {
        self.mode = mode
        timer?.cancel()
        timer = nil
        guard mode != .idle else { return }
        startedAt = .now()
        if readAskedAt != nil { readAskedAt = startedAt }
        waited = .zero
        received = 0
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        let boundContext = NIOLoopBound(context, eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleRepeatedTask(initialDelay: Self.tick, delay: Self.tick) { _ in
            bound.value.check(boundContext.value)
        }
    }

    private func check(_ context: ChannelHandlerContext) {
        let now = NIODeadline.now()
        switch mode {
        case .idle:
            break
        case .refusing:
            if now - startedAt >= limits.refusalTime { context.close(promise: nil) }
        case .lingering:
            if now - startedAt >= limits.lingerTime { context.close(promise: nil) }
        case .body:
            let waiting = waited + (readAskedAt.map { now - $0 } ?? .zero)
            let earned = TimeAmount.seconds(Int64(received / max(limits.bytesASecond, 1)))
            guard waiting > limits.patience + earned || now - startedAt > limits.bodyDeadline else { return }
            refuse(BodyTooSlow(), context)
        }
    }

    /// Awaits no more of the body; the response to the error has to be written within `refusalTime`.
    private func refuse(_ error: any Error, _ context: ChannelHandlerContext) {
        enter(.refusing, context)
        context.fireErrorCaught(error)
    }
}
