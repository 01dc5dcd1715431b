internal import NIOCore

/// What the code that answers a request tells its connection about the request's body.
enum BodyEvent: Sendable {
    /// The body is wanted: tell a client that asks first to go on, and watch that it comes at a fair pace.
    case wanted(sendContinue: Bool)
    /// The body has been read.
    case complete
    /// The request is answered before its body was read: read on a little, so that the client sees the answer and not
    /// a broken connection, and then close.
    case refused
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
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// How patient a connection is.
    struct Limits: Sendable {
        /// From the first byte of a body to its last.
        var bodyDeadline = TimeAmount.seconds(300)
        /// What a client may be waited for in all, beside what its bytes earn it.
        var patience = TimeAmount.seconds(15)
        /// Bytes that earn a client another second.
        var bytesASecond = 8 * 1024
        /// How long, and for how many bytes, a refused body is still read.
        var lingerTime = TimeAmount.seconds(5)
        var lingerBytes = 8 * 1024 * 1024
    }

    private static let tick = TimeAmount.milliseconds(500)

    private enum Mode { case idle, body, lingering }

    private let limits: Limits
    private var mode = Mode.idle
    private var startedAt = NIODeadline.now()
    private var readAskedAt: NIODeadline?
    private var waited = TimeAmount.zero
    private var received = 0
    private var timer: RepeatedTask?

    init(limits: Limits) { self.limits = limits }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard let event = event as? BodyEvent else {
            return context.triggerUserOutboundEvent(event, promise: promise)
        }
        promise?.succeed()
        switch event {
        case .wanted(let sendContinue):
            enter(.body, context)
            guard sendContinue else { return }
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n")), promise: nil)
        case .complete:
            enter(.idle, context)
        case .refused:
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
        if mode == .lingering, received > limits.lingerBytes { return context.close(promise: nil) }
        context.fireChannelRead(data)
    }

    func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        context.fireChannelInactive()
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
        case .lingering:
            if now - startedAt >= limits.lingerTime { context.close(promise: nil) }
        case .body:
            let waiting = waited + (readAskedAt.map { now - $0 } ?? .zero)
            let earned = TimeAmount.seconds(Int64(received / max(limits.bytesASecond, 1)))
            guard waiting > limits.patience + earned || now - startedAt > limits.bodyDeadline else { return }
            enter(.idle, context)
            context.fireErrorCaught(BodyTooSlow())
        }
    }
}
