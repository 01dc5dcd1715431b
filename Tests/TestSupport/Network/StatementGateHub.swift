import NIOCore
import NIOPosix

/// The state of a gate: its connections and its plan. Used on its event loop only.
final class StatementGateHub {
    var plan: StatementGatePlan?
    private let path: String
    private let loop: any EventLoop
    private var links: [ObjectIdentifier: StatementGateLink] = [:]

    init(path: String, loop: any EventLoop) {
        self.path = path
        self.loop = loop
    }

    /// Accepts a client and connects it to the server.
    func accept(_ client: any Channel) throws {
        let link = StatementGateLink(hub: self, client: client)
        links[ObjectIdentifier(link)] = link
        try client.pipeline.syncOperations.addHandler(link.requests)
        let replies = NIOLoopBound(link.replies, eventLoop: loop)
        ClientBootstrap(group: loop)
            .channelOption(.autoRead, value: false)
            .channelInitializer { server in
                server.eventLoop.makeCompletedFuture { try server.pipeline.syncOperations.addHandler(replies.value) }
            }
            .connect(unixDomainSocketPath: path).assumeIsolated()
            .whenComplete { result in
                switch result {
                case .success(let server): link.connected(to: server)
                case .failure: link.close()
                }
            }
    }

    func open() {
        for link in links.values { link.open() }
    }

    func disarm() -> Int {
        defer { plan = nil }
        open()
        plan?.signal.finish()
        return plan?.passed ?? 0
    }

    func close() {
        for link in links.values { link.close() }
    }

    func remove(_ link: StatementGateLink) { links[ObjectIdentifier(link)] = nil }
}
