import NIOCore
import NIOPosix

/// A TCP proxy on 127.0.0.1 that simulates a bad network: it can hold, delay or cut connections, or lead new ones to another
/// server.
///
/// All of it runs on one event loop of NIO.
public final class FaultProxy: Sendable {
    /// The server behind the proxy.
    public enum Target: Sendable {
        /// A port of 127.0.0.1.
        case tcp(port: Int)
        /// The path of a Unix socket.
        case unixSocket(path: String)
    }

    /// The handling of the bytes of all connections, later ones included.
    public enum Traffic: Sendable, Equatable {
        /// Bytes are passed on at once.
        case flowing
        /// Bytes are passed on after a delay, in order.
        case delayed(Duration)
        /// Bytes and the ends of connections are held back: both sides see an open connection without data. When the traffic flows
        /// again, all bytes arrive, as after retransmissions of TCP.
        case held
        /// Bytes from the server are held back; those to the server are passed on.
        case repliesHeld
    }

    /// The port to connect to.
    public let port: Int
    private let hub: NIOLoopBound<ProxyHub>
    private let loop: any EventLoop
    private let server: any Channel

    private init(port: Int, hub: NIOLoopBound<ProxyHub>, loop: any EventLoop, server: any Channel) {
        self.port = port
        self.hub = hub
        self.loop = loop
        self.server = server
    }

    /// Listens on a free port and passes every connection on to `target`.
    public static func start(to target: Target) async throws -> FaultProxy {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let hub = try await loop.submit { NIOLoopBound(ProxyHub(target: target, loop: loop), eventLoop: loop) }.get()
        let server = try await ServerBootstrap(group: loop)
            .serverChannelOption(.backlog, value: 256)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { client in
                client.eventLoop.makeCompletedFuture { try hub.value.accept(client) }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        guard let port = server.localAddress?.port else { throw DeadlineExceeded(description: "the proxy has no port") }
        return FaultProxy(port: port, hub: hub, loop: loop, server: server)
    }

    /// Changes the handling of bytes; held ones are passed on if the new one allows it.
    public func set(_ traffic: Traffic) async throws {
        try await loop.submit { [hub] in hub.value.set(traffic) }.get()
    }

    /// Closes all connections, on both sides; new ones are accepted.
    public func cut() async throws {
        try await loop.submit { [hub] in hub.value.cut() }.get()
    }

    /// Silences the open connections until they are cut: they stay open, and no more bytes or ends pass. New ones are not affected, as
    /// after a failover behind a proxy.
    public func freeze() async throws {
        try await loop.submit { [hub] in hub.value.freeze() }.get()
    }

    /// Leads new connections to another server; open ones are not changed.
    public func point(to target: Target) async throws { try await share(among: [target]) }

    /// Leads new connections to several servers in turn; open ones are not changed.
    public func share(among targets: [Target]) async throws {
        precondition(!targets.isEmpty, "a connection needs a server")
        try await loop.submit { [hub] in hub.value.targets = targets }.get()
    }

    /// Returns the number of open connections.
    public func connectionCount() async throws -> Int {
        try await loop.submit { [hub] in hub.value.links.count }.get()
    }

    /// Stops listening and closes all connections.
    public func stop() async {
        try? await server.close().get()
        try? await cut()
    }
}
