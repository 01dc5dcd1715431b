internal import NIOCore

/// What a ``RequestWatch`` saw that matters to how long the client is waited for.
enum ClientEvent: Sendable {
    /// A request announced a body, which is to come at a fair pace from now on.
    case bodyBegan
    /// The same, and the client waits to be told to send it.
    case bodyAskedFor
    /// The request is complete.
    case bodyEnded
    /// A request was answered.
    case answered
    /// The request was answered, and more of it is to come than will be read: read on a little, so that the client sees
    /// the answer and not a broken connection, and then close.
    case answeredEarly
}

/// Thrown into a body that comes too slowly or takes too long.
struct BodyTooSlow: Error {}

/// Watches over the bytes of one connection, at the very front of its pipeline.
///
/// Time counts against a client only while the server waits for it: when the server is busy writing to its disk and
/// does not read, the client cannot send.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// How patient a connection is.
    struct Limits: Sendable {
        /// Bytes, and number, of a request's header fields.
        var headBytes = 16 * 1024
        var headFields = 100
        /// From the first byte of a body to its last.
        var bodyDeadline = TimeAmount.seconds(300)
        /// What a client may be waited for in all, beside what its bytes earn it.
        var patience = TimeAmount.seconds(15)
        /// Bytes, sent or taken, that earn a client another second.
        var bytesASecond = 8 * 1024
        /// How long a client may leave answers unread that its connection has no more room for; the bytes that it takes earn
        /// it back what it has used of that.
        var unreadAnswers = TimeAmount.seconds(30)
        /// How long the answer to a body that came too slowly may take.
        var refusalTime = TimeAmount.seconds(30)
        /// How long, and for how many bytes, a refused body is still read after its answer.
        var lingerTime = TimeAmount.seconds(5)
        var lingerBytes = 8 * 1024 * 1024
    }

    private static let tick = TimeAmount.milliseconds(500)
    /// Bytes of an answer that are handed to the connection at a time.
    private static let sliceBytes = 64 * 1024

    private enum Mode { case idle, body, refusing, lingering }

    private let limits: Limits
    private var mode = Mode.idle
    private var startedAt = NIODeadline.now()
    private var readAskedAt: NIODeadline?
    private var waited = TimeAmount.zero
    private var received = 0
    private var timer: RepeatedTask?
    private var unread: WriteStallBudget
    private var unreadTimer: RepeatedTask?
    /// Who waits until all that was written is taken.
    private var whenTaken: [EventLoopPromise<Void>] = []

    init(limits: Limits) {
        self.limits = limits
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
        case .bodyBegan:
            if mode == .idle { enter(.body, context) }
        case .bodyAskedFor:
            if mode == .idle { enter(.body, context) }
            context.writeAndFlush(wrapOutboundOut(.byteBuffer(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n"))), promise: nil)
        case .bodyEnded:
            if mode == .body { enter(.idle, context) }
        case .answered:
            if mode == .refusing { enter(.lingering, context) }
        case .answeredEarly:
            enter(.lingering, context)
        }
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
        context.fireChannelRead(data)
    }

    /// A client that does not read its answers, or too slowly, is not waited for either.
    ///
    /// An answer is written in slices, so that what is taken of a large one counts as it goes.
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
        // A connection that closes fails what it had not taken before it says that it is closed.
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
            // Nothing more is expected of this connection: what is said to the error is said soon, or never.
            enter(.refusing, context)
            context.fireErrorCaught(BodyTooSlow())
        }
    }
}
