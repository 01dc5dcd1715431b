import NIOCore
import NIOHTTP2
import NIOPosix
package import NIOSSL

/// One listening socket. Its clients speak HTTP/2 by ALPN or by their first bytes, or HTTP/1.1.
package struct Listener: Sendable {
    /// The port that was bound.
    package let port: Int
    private let socket: any Channel
    private let connections: ConnectionTracker

    /// Binds and serves; returns once connections are accepted.
    package static func start(
        _ service: EmulatorService, tls: NIOSSLContext? = nil, host: String, port: Int
    ) async throws(EmulatorError) -> Listener {
        do {
            let socket = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.backlog, value: 256)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelInitializer { channel in
                    service.connections.add(channel)
                    return tls.map { negotiate($0, channel, service) } ?? recognise(channel, service)
                }
                .bind(host: host, port: port).get()
            return Listener(port: socket.localAddress?.port ?? port, socket: socket, connections: service.connections)
        } catch {
            throw EmulatorError(.cannotListen, "cannot listen on \(host):\(port)", underlying: error)
        }
    }

    /// Closes the socket and all connections, and returns once they are gone.
    package func stop() async {
        try? await socket.close().get()
        await connections.closeAllAndWait()
    }

    /// The TLS settings of a certificate, with HTTP/2 before HTTP/1.1.
    package static func context(_ configuration: TLSConfiguration) throws -> NIOSSLContext {
        var configuration = configuration
        configuration.applicationProtocols = NIOHTTP2SupportedALPNProtocols
        // Idle clients do not answer the TLS closing message; by default each stop would wait five seconds for the answer.
        configuration.shutdownTimeout = .milliseconds(100)
        return try NIOSSLContext(configuration: configuration)
    }

    private static func negotiate(_ tls: NIOSSLContext, _ channel: any Channel, _ service: EmulatorService) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
        }.flatMap {
            channel.configureHTTP2SecureUpgrade { channel in
                channel.eventLoop.makeCompletedFuture { try EmulatorConnection.configure(channel, service, isHTTP2: true) }
            } http1ChannelConfigurator: { channel in
                channel.eventLoop.makeCompletedFuture { try EmulatorConnection.configure(channel, service, isHTTP2: false) }
            }
        }
    }

    private static func recognise(_ channel: any Channel, _ service: EmulatorService) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(PrefaceHandler(service: service)) }
    }
}

/// Decides by a connection's first bytes whether its client speaks HTTP/2 (RFC 9113 § 3.3) or HTTP/1.1.
final class PrefaceHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// The first bytes of an HTTP/2 client; no HTTP/1.1 method begins with them.
    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    private let service: EmulatorService
    private var received = ByteBuffer()
    private var isDecided = false

    init(service: EmulatorService) { self.service = service }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        received.writeBuffer(&bytes)
        let start = received.readableBytesView.prefix(Self.preface.count)
        guard !isDecided, !Self.preface.starts(with: start) || start.count == Self.preface.count else { return }
        isDecided = true
        do {
            try EmulatorConnection.configure(context.channel, service, isHTTP2: start.elementsEqual(Self.preface))
            // The removal passes the bytes received so far to the handlers that are configured now.
            context.pipeline.syncOperations.removeHandler(self, promise: nil)
        } catch {
            context.close(promise: nil)
        }
    }

    func removeHandler(context: ChannelHandlerContext, removalToken: ChannelHandlerContext.RemovalToken) {
        if received.readableBytes > 0 {
            context.fireChannelRead(wrapInboundOut(received))
            context.fireChannelReadComplete()
        }
        context.leavePipeline(removalToken: removalToken)
    }
}
