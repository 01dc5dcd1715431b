import NIOCore

/// Joins the writes between two flushes, so that TLS makes one record of them.
///
/// NIO's HTTP/2 writes the head of a response, the head of its body's frame and the body one by one, and NIO's TLS makes a record of each,
/// which costs the client three reads.
final class WriteCoalescer: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var pending = ByteBuffer()

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        var bytes = unwrapOutboundIn(data)
        pending.writeBuffer(&bytes)
        // The promise is about all bytes up to here.
        if let promise { writePending(context, promise) }
    }

    func flush(context: ChannelHandlerContext) {
        if pending.readableBytes > 0 { writePending(context, nil) }
        context.flush()
    }

    private func writePending(_ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
        let bytes = pending
        pending = context.channel.allocator.buffer(capacity: bytes.readableBytes)
        context.write(wrapOutboundOut(bytes), promise: promise)
    }
}
