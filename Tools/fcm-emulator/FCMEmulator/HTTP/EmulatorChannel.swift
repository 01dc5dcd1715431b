import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP2
import NIOSSL

/// One connection in the protocol of its client: HTTP/2 by ALPN or by its first bytes, HTTP/1.1 otherwise.
struct EmulatorChannel: HTTPChannelHandler {
    struct Value: ServerChildChannelValue {
        /// The HTTP/1.1 channel that serves the connection; nil under HTTP/2, whose handlers serve it themselves.
        let negotiated: EventLoopFuture<HTTP1Channel.Value?>
        let channel: any Channel
    }

    let responder: Responder
    private let core: EmulatorCore
    private let router: RouterBridge
    private let http1: HTTP1Channel
    private let tls: NIOSSLContext?

    init(tls: TLSConfiguration?, core: EmulatorCore, router: RouterBridge, responder: @escaping Responder) throws {
        self.core = core
        self.router = router
        self.responder = responder
        http1 = HTTP1Channel(responder: responder)
        self.tls = try tls.map { configuration in
            var configuration = configuration
            configuration.applicationProtocols = NIOHTTP2SupportedALPNProtocols
            // Idle clients do not answer the TLS closing message; by default each stop would wait five seconds for the answer.
            configuration.shutdownTimeout = .milliseconds(100)
            return try NIOSSLContext(configuration: configuration)
        }
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        core.connections.add(channel)
        return (tls.map { negotiate($0, channel, logger) } ?? listen(channel, logger))
            .map { Value(negotiated: $0, channel: channel) }
    }

    private func negotiate(
        _ tls: NIOSSLContext, _ channel: any Channel, _ logger: Logger
    ) -> EventLoopFuture<EventLoopFuture<HTTP1Channel.Value?>> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
        }.flatMap {
            channel.configureHTTP2AsyncSecureUpgrade { channel in
                http1.setup(channel: channel, logger: logger)
            } http2ConnectionInitializer: { channel in
                configureHTTP2(channel)
            }
        }.map { negotiated in
            negotiated.map { version in
                switch version {
                case .http1_1(let connection): connection
                case .http2: nil
                }
            }
        }
    }

    private func listen(
        _ channel: any Channel, _ logger: Logger
    ) -> EventLoopFuture<EventLoopFuture<HTTP1Channel.Value?>> {
        let decided = channel.eventLoop.makePromise(of: HTTP1Channel.Value?.self)
        return channel.eventLoop.makeCompletedFuture {
            let handler = PrefaceHandler(decided: decided) { channel, isHTTP2 in
                isHTTP2
                    ? configureHTTP2(channel).map { nil } : http1.setup(channel: channel, logger: logger).map { $0 }
            }
            try channel.pipeline.syncOperations.addHandler(handler)
            return decided.futureResult
        }
    }

    private func configureHTTP2(_ channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            try HTTP2ConnectionHandler.configure(channel, core: core, router: router)
        }
    }

    /// Serves a connection until it is closed; cancellation closes it.
    func handle(value: Value, logger: Logger) async {
        await withTaskCancellationHandler {
            do {
                if let connection = try await value.negotiated.get() {
                    await http1.handle(value: connection, logger: logger)
                } else {
                    try await value.channel.closeFuture.get()
                }
            } catch {
                logger.debug("A connection ended", metadata: ["error": "\(error)"])
            }
        } onCancel: {
            value.channel.close(promise: nil)
        }
    }
}

/// Decides by a connection's first bytes whether its client speaks HTTP/2 (RFC 9113 § 3.3) or HTTP/1.1.
final class PrefaceHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias Configure = (any Channel, _ isHTTP2: Bool) -> EventLoopFuture<HTTP1Channel.Value?>

    /// The first bytes of an HTTP/2 client; no HTTP/1.1 method begins with them.
    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    private let decided: EventLoopPromise<HTTP1Channel.Value?>
    private let configure: Configure
    private var received = ByteBuffer()
    private var isDecided = false

    init(decided: EventLoopPromise<HTTP1Channel.Value?>, configure: @escaping Configure) {
        self.decided = decided
        self.configure = configure
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        received.writeBuffer(&bytes)
        let start = received.readableBytesView.prefix(Self.preface.count)
        guard !isDecided, !Self.preface.starts(with: start) || start.count == Self.preface.count else { return }
        isDecided = true
        let isHTTP2 = start.count == Self.preface.count && start.elementsEqual(Self.preface)
        let configured = configure(context.channel, isHTTP2)
        configured.cascade(to: decided)
        let pipeline = context.pipeline
        configured.assumeIsolated().whenComplete { _ in
            // The removal passes the bytes received so far to the handlers that are configured now.
            pipeline.syncOperations.removeHandler(self, promise: nil)
        }
    }

    func removeHandler(context: ChannelHandlerContext, removalToken: ChannelHandlerContext.RemovalToken) {
        if received.readableBytes > 0 {
            context.fireChannelRead(wrapInboundOut(received))
            context.fireChannelReadComplete()
        }
        context.leavePipeline(removalToken: removalToken)
    }

    func channelInactive(context: ChannelHandlerContext) {
        if !isDecided { decided.fail(ChannelError.ioOnClosedChannel) }
        isDecided = true
        context.fireChannelInactive()
    }
}
