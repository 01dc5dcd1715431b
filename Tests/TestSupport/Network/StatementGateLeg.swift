import NIOCore

/// Splits the bytes of one side of a connection to Postgres into messages.
final class StatementGateLeg: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// Whether the next message begins with its type: the first one of a client does not.
    private var startsWithType: Bool
    private let message: (ByteBuffer) -> Void
    private let ended: () -> Void
    private var pending = ByteBuffer()

    init(startsWithType: Bool, message: @escaping (ByteBuffer) -> Void, ended: @escaping () -> Void) {
        self.startsWithType = startsWithType
        self.message = message
        self.ended = ended
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        pending.writeBuffer(&bytes)
        while let next = next() { message(next) }
        pending.discardReadBytes()
    }

    private func next() -> ByteBuffer? {
        let typeBytes = startsWithType ? 1 : 0
        guard let length = pending.getInteger(at: pending.readerIndex + typeBytes, as: UInt32.self),
            let found = pending.readSlice(length: typeBytes + Int(length))
        else { return nil }
        startsWithType = true
        return found
    }

    func channelInactive(context: ChannelHandlerContext) { ended() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
