internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOHTTP1

/// Hummingbird's HTTP/1.1 connection with a ``ConnectionGuard`` in front of it and a ``RequestWatch`` behind its decoder.
struct GuardedHTTP1Channel: ServerChildChannel {
    let base: HTTP1Channel
    let limits: ConnectionGuard.Limits

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        let limits = limits
        return base.setup(channel: channel, logger: logger).flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(ConnectionGuard(limits: limits), position: .first)
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(RequestWatch(), position: .after(decoder))
            return value
        }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async {
        await base.handle(value: value, logger: logger)
    }
}

extension HTTPServerBuilder {
    /// HTTP/1.1 whose connections are watched over.
    static func guardedHTTP1(idleTimeout: TimeAmount, limits: ConnectionGuard.Limits) -> HTTPServerBuilder {
        HTTPServerBuilder { responder in
            GuardedHTTP1Channel(
                base: HTTP1Channel(
                    responder: responder,
                    configuration: .init(
                        idleTimeout: idleTimeout,
                        httpDecoderConfiguration: .init(
                            maxHeaderFieldSize: limits.headBytes, maxHeaderListSize: limits.headBytes,
                            maxHeaderFieldCount: limits.headFields))), limits: limits)
        }
    }
}
