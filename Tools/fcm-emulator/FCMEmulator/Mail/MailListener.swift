import NIOCore
import NIOPosix
import NIOSSL

/// The listening socket for mails.
struct MailListener: Sendable {
    /// The port that was bound.
    let port: Int
    private let socket: any Channel
    private let connections: ConnectionTracker

    /// Binds and serves; returns once connections are accepted.
    ///
    /// - Parameters:
    ///   - tls: What STARTTLS begins; nil: it is not offered.
    ///   - isImplicit: Whether TLS begins with the connection instead.
    static func start(
        _ core: EmulatorCore, tls: NIOSSLContext?, isImplicit: Bool = false, port: Int
    ) async throws(EmulatorError) -> MailListener {
        let host = core.configuration.host
        let connections = core.mailConnections
        let idle = TimeAmount.seconds(Int64(core.configuration.limits.mailIdleSeconds))
        do {
            let socket = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.backlog, value: 64)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelInitializer { channel in
                    connections.add(channel)
                    return channel.eventLoop.makeCompletedFuture {
                        let pipeline = channel.pipeline.syncOperations
                        if isImplicit, let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
                        try pipeline.addHandler(IdleStateHandler(readTimeout: idle))
                        try pipeline.addHandler(SMTPHandler(MailDesk(core: core), tls: tls, isTLS: isImplicit))
                    }
                }
                .bind(host: host, port: port).get()
            return MailListener(port: socket.localAddress?.port ?? port, socket: socket, connections: connections)
        } catch {
            throw EmulatorError(.cannotListen, "cannot listen on \(host):\(port)", underlying: error)
        }
    }

    /// Closes the socket and all connections, and returns once they are gone.
    func stop() async {
        try? await socket.close().get()
        await connections.closeAllAndWait()
    }
}
