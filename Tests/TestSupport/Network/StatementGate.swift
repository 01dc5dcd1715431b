import NIOCore
import NIOPosix

/// A proxy in front of Postgres that stops a transaction between two of its statements, so that a test decides what other transactions do
/// between its check and its write.
///
/// It reads the protocol, and so stops any code that uses a client, at each statement, also between those that the client sends in one
/// packet. All of it runs on one event loop of NIO.
public final class StatementGate: Sendable {
    /// A stop that was asked for.
    public struct Stop: Sendable {
        fileprivate let signals: AsyncStream<Bool>

        /// Waits until a transaction stands there, with all statements before it done; false when the plan was ended before.
        public func isReached() async -> Bool {
            for await isReached in signals { return isReached }
            return false
        }
    }

    private let port: Int
    private let hub: NIOLoopBound<StatementGateHub>
    private let loop: any EventLoop
    private let server: any Channel

    private init(port: Int, hub: NIOLoopBound<StatementGateHub>, loop: any EventLoop, server: any Channel) {
        self.port = port
        self.hub = hub
        self.loop = loop
        self.server = server
    }

    /// Listens on a free port, and passes every connection on to a server.
    public static func start(before server: PostgresServer) async throws -> StatementGate {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let path = "\(server.socketFolder)/.s.PGSQL.\(server.port)"
        let hub = try await loop.submit { NIOLoopBound(StatementGateHub(path: path, loop: loop), eventLoop: loop) }.get()
        let listener = try await ServerBootstrap(group: loop)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { client in
                client.eventLoop.makeCompletedFuture { try hub.value.accept(client) }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        guard let port = listener.localAddress?.port else { throw DeadlineExceeded(description: "the gate has no port") }
        return StatementGate(port: port, hub: hub, loop: loop, server: listener)
    }

    /// Returns the URI of a database behind the gate. Nothing is encrypted, because the gate reads it.
    public func url(database: String, user: String) -> String {
        "postgresql://\(user)@127.0.0.1:\(port)/\(database)?sslmode=disable&gssencmode=disable"
    }

    /// Has the next transaction stop that runs a certain statement.
    ///
    /// - Parameters:
    ///   - check: A part of the text of that statement.
    ///   - boundary: The number of further statements that run before the stop; COMMIT is one, and does not.
    public func arm(after check: String, boundary: Int) async throws -> Stop {
        let (signals, signal) = AsyncStream<Bool>.makeStream()
        try await loop.submit { [hub] in hub.value.plan = StatementGatePlan(check: check, boundary: boundary, signal: signal) }.get()
        return Stop(signals: signals)
    }

    /// Lets the transaction go on that stands there.
    public func open() async throws { try await loop.submit { [hub] in hub.value.open() }.get() }

    /// Ends the plan, whether a transaction was stopped or not.
    ///
    /// - Returns: The number of boundaries between the check and the end of the transaction that ran it, if it ended without a stop.
    @discardableResult
    public func disarm() async throws -> Int {
        try await loop.submit { [hub] in hub.value.disarm() }.get()
    }

    /// Stops listening and closes all connections.
    public func stop() async {
        try? await server.close().get()
        try? await loop.submit { [hub] in hub.value.close() }.get()
    }
}

/// Where a transaction is stopped.
struct StatementGatePlan {
    let check: String
    let boundary: Int
    let signal: AsyncStream<Bool>.Continuation
    /// The boundaries that the transaction with the check has passed; nil before the check.
    var passed: Int?
    /// Whether the transaction with the check has ended, or stands at the boundary.
    var isOver = false

    /// Looks at a statement that is about to run, and returns whether it has to wait.
    mutating func stops(before sql: String) -> Bool {
        guard !isOver else { return false }
        guard let count = passed else {
            if sql.contains(check) { passed = 0 }
            return false
        }
        if sql == "ROLLBACK" {
            isOver = true
            return false
        }
        guard count < boundary else {
            isOver = true
            return true
        }
        passed = count + 1
        if sql == "COMMIT" { isOver = true }
        return false
    }
}
