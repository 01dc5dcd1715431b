internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOHTTP1

/// Hummingbird's HTTP/1.1 connection with a ``ConnectionGuard`` in front of it and a ``RequestWatch`` behind its decoder.
///
/// A connection of an address that already holds its share is closed at once. Connections of trusted proxies are not counted: each carries
/// the requests of many clients.
struct GuardedHTTP1Channel: ServerChildChannel {
    let base: HTTP1Channel
    let limits: ConnectionGuard.Limits
    let connections: OpenConnections
    let addresses: ClientAddresses

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        let peer = channel.peer
        let isTrusted = addresses.isTrusted(peer)
        let connection = isTrusted ? nil : connections.open(channel, from: peer)
        guard isTrusted || connection != nil else {
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(TooManyConnections())
        }
        let limits = limits
        return base.setup(channel: channel, logger: logger).flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(ConnectionGuard(limits: limits, connection: connection), position: .first)
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(RequestWatch(), position: .after(decoder))
            return value
        }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async {
        await base.handle(value: value, logger: logger)
    }
}

/// The address already holds its share of connections.
private struct TooManyConnections: Error {}

extension HTTPServerBuilder {
    /// HTTP/1.1 with connections that are counted per address and guarded.
    static func guardedHTTP1(_ configuration: IdentityAPIConfiguration) -> HTTPServerBuilder {
        let limits = configuration.connection
        let http = HTTP1Channel.Configuration(
            idleTimeout: configuration.idleTimeout,
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: limits.headBytes, maxHeaderListSize: limits.headBytes,
                maxHeaderFieldCount: limits.headFields))
        let connections = OpenConnections(
            perAddress: configuration.limits.connectionsPerAddress, total: configuration.connections)
        return HTTPServerBuilder { responder in
            GuardedHTTP1Channel(
                base: HTTP1Channel(responder: responder, configuration: http), limits: limits, connections: connections,
                addresses: configuration.limits.addresses)
        }
    }
}
