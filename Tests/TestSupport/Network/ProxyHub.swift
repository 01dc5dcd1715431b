import NIOCore
import NIOPosix

/// The state of a proxy: its connections and the handling of their bytes. Used on its event loop only.
final class ProxyHub {
    /// The servers that new connections are led to in turn; never empty.
    var targets: [FaultProxy.Target]
    private(set) var traffic = FaultProxy.Traffic.flowing
    private(set) var links: [ObjectIdentifier: ProxyLink] = [:]
    private var acceptedCount = 0
    private let loop: any EventLoop

    init(target: FaultProxy.Target, loop: any EventLoop) {
        targets = [target]
        self.loop = loop
    }

    /// Accepts a client and connects it to the server.
    func accept(_ client: any Channel) throws {
        let link = ProxyLink(hub: self, client: client)
        links[ObjectIdentifier(link)] = link
        try client.pipeline.syncOperations.addHandler(link.fromClient)
        let fromServer = NIOLoopBound(link.fromServer, eventLoop: loop)
        let bootstrap = ClientBootstrap(group: loop)
            .channelOption(.autoRead, value: false)
            .channelInitializer { server in
                server.eventLoop.makeCompletedFuture { try server.pipeline.syncOperations.addHandler(fromServer.value) }
            }
        acceptedCount += 1
        let connecting =
            switch targets[acceptedCount % targets.count] {
            case .tcp(let port): bootstrap.connect(host: "127.0.0.1", port: port)
            case .unixSocket(let path): bootstrap.connect(unixDomainSocketPath: path)
            }
        connecting.assumeIsolated().whenComplete { result in
            switch result {
            case .success(let server): link.connected(to: server)
            case .failure: link.close()
            }
        }
    }

    func set(_ traffic: FaultProxy.Traffic) {
        self.traffic = traffic
        for link in links.values { link.release() }
    }

    func cut() {
        for link in links.values { link.close() }
    }

    func freeze() {
        for link in links.values { link.isFrozen = true }
    }

    func remove(_ link: ProxyLink) { links[ObjectIdentifier(link)] = nil }
}

/// A client's connection together with the one to the server.
final class ProxyLink {
    private unowned let hub: ProxyHub
    private let client: any Channel
    private var server: (any Channel)?
    private var isClosed = false
    private(set) lazy var fromClient = ProxyLeg(link: self, isFromServer: false)
    private(set) lazy var fromServer = ProxyLeg(link: self, isFromServer: true)

    init(hub: ProxyHub, client: any Channel) {
        self.hub = hub
        self.client = client
    }

    func connected(to server: any Channel) {
        self.server = server
        guard !isClosed else { return close() }
        for channel in [client, server] { _ = channel.setOption(.autoRead, value: true) }
    }

    /// Whether no more bytes pass, whatever the traffic of the others is.
    var isFrozen = false

    var traffic: FaultProxy.Traffic { isFrozen ? .held : hub.traffic }

    /// Returns the channel to which the bytes of the other one are passed.
    func destination(isFromServer: Bool) -> (any Channel)? { isFromServer ? client : server }

    /// Passes on held bytes, if the current traffic allows it.
    func release() {
        fromClient.release()
        fromServer.release()
    }

    func close() {
        isClosed = true
        client.close(promise: nil)
        server?.close(promise: nil)
        hub.remove(self)
    }
}

/// Receives the bytes of one side of a link.
final class ProxyLeg: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let link: ProxyLink
    private let isFromServer: Bool
    private var held: [ByteBuffer] = []
    /// The number of buffers that wait for the end of their delay.
    private var underway = 0
    private var lastDelay = TimeAmount.zero
    private var hasEnded = false

    init(link: ProxyLink, isFromServer: Bool) {
        self.link = link
        self.isFromServer = isFromServer
    }

    private var isHeld: Bool {
        switch link.traffic {
        case .held: true
        case .repliesHeld: isFromServer
        case .flowing, .delayed: false
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        guard !isHeld else { return held.append(bytes) }
        if case .delayed(let delay) = link.traffic { lastDelay = TimeAmount(delay) } else if underway == 0 { return pass(bytes) }
        // After a change to flowing traffic, new bytes must not overtake delayed ones, so they are delayed too.
        underway += 1
        context.eventLoop.assumeIsolated().scheduleTask(in: lastDelay) {
            self.underway -= 1
            self.pass(bytes)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        hasEnded = true
        if !isHeld { link.close() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    func release() {
        guard !isHeld else { return }
        for bytes in held { pass(bytes) }
        held = []
        if hasEnded { link.close() }
    }

    private func pass(_ bytes: ByteBuffer) {
        link.destination(isFromServer: isFromServer)?.writeAndFlush(bytes, promise: nil)
    }
}
