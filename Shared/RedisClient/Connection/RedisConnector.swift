import NIOCore
import NIOPosix
import NIOSSL

/// Makes connections: TCP or Unix socket, TLS, log-in; with Sentinels, to the server that is the master now.
struct RedisConnector: Sendable {
    private var configuration: RedisConfiguration
    private let group: any EventLoopGroup
    private let tls: NIOSSLContext?

    /// The time that a connection with TLS waits, when it is closed, for the server to close its side.
    private static let goodByeTimeout = TimeAmount.milliseconds(500)

    /// - Throws: ``RedisError/Code/invalidConfiguration`` when the certificate authorities cannot be read.
    init(configuration: RedisConfiguration, group: any EventLoopGroup) throws(RedisError) {
        self.configuration = configuration
        self.group = group
        guard configuration.tls else {
            tls = nil
            return
        }
        if case .unixSocket = configuration.endpoint {
            throw RedisError(.invalidConfiguration, "TLS over a Unix socket is not supported")
        }
        var options = TLSConfiguration.makeClientConfiguration()
        if let file = configuration.caFile { options.trustRoots = .file(file) }
        // A silent server does not answer the `close_notify` of TLS, either.
        options.shutdownTimeout = Self.goodByeTimeout
        do {
            tls = try NIOSSLContext(configuration: options)
        } catch {
            throw RedisError(.invalidConfiguration, "the certificate authorities for Redis cannot be read", underlying: error)
        }
    }

    /// Connects and logs in, within ``RedisConfiguration/connectTimeout``.
    ///
    /// - Parameters:
    ///   - dedicated: Whether one task alone uses the connection; see ``RedisChannelHandler/Policy``.
    ///   - onRetire: Called once when no more commands should be sent there; also when making the connection fails.
    func connect(
        dedicated: Bool, onRetire: @escaping @Sendable (RedisError) -> Void
    ) async throws(RedisError) -> RedisConnection {
        if case .sentinel(let sentinels) = configuration.endpoint {
            return try await connectToMaster(of: sentinels, dedicated: dedicated, onRetire: onRetire)
        }
        let deadline = NIODeadline.now() + TimeAmount(configuration.connectTimeout)
        let core: ConnectionCore
        do {
            core = try await open(dedicated: dedicated, onRetire: onRetire)
        } catch {
            throw RedisError(.connectionFailed, "cannot connect to \(configuration)", underlying: error)
        }
        do throws(RedisError) {
            return RedisConnection(core: core, endpoint: configuration.endpoint, clientID: try await logIn(core, deadline: deadline))
        } catch {
            core.close(error)
            if error.code == .authenticationFailed || error.code == .cancelled { throw error }
            throw RedisError(.connectionFailed, "cannot log in to \(configuration)", underlying: error)
        }
    }

    /// Connects to the master. Asks the Sentinels each time, because a failover may have been what broke the last connection.
    private func connectToMaster(
        of sentinels: RedisSentinels, dedicated: Bool, onRetire: @escaping @Sendable (RedisError) -> Void
    ) async throws(RedisError) -> RedisConnection {
        let resolver = SentinelResolver(sentinels: sentinels) { connector(toSentinel: $0, timeout: $1) }
        let address = try await resolver.master()
        var master = self
        master.configuration.endpoint = .tcp(host: address.host, port: address.port)
        let connection = try await master.connect(dedicated: dedicated, onRetire: onRetire)
        do throws(RedisError) {
            // A Sentinel that has not yet learned of a failover names a server that is a replica by now.
            let role = try await connection.send(RedisCommand("ROLE"), timeout: configuration.connectTimeout)
            guard role.array?.first?.string == "master" else {
                throw RedisError(.connectionFailed, "\(address) is no longer the master of \(sentinels.masterName)")
            }
            return connection
        } catch {
            connection.closeNow()
            throw error
        }
    }

    private func connector(toSentinel address: RedisAddress, timeout: Duration) -> RedisConnector {
        var connector = self
        connector.configuration.endpoint = .tcp(host: address.host, port: address.port)
        connector.configuration.username = configuration.sentinelUsername
        connector.configuration.password = configuration.sentinelPassword
        connector.configuration.database = 0
        connector.configuration.connectTimeout = min(timeout, configuration.connectTimeout)
        return connector
    }

    private func open(
        dedicated: Bool, onRetire: @escaping @Sendable (RedisError) -> Void
    ) async throws -> ConnectionCore {
        let writeBuffer = WriteBuffer(maxCommands: configuration.maxQueuedCommands, maxBytes: configuration.maxQueuedBytes)
        let policy = RedisChannelHandler.Policy(
            closesOnAbandonment: dedicated, stallLimit: dedicated ? nil : TimeAmount(configuration.stallTimeout))
        let (limits, timeout) = (configuration.replyLimits, configuration.commandTimeout)
        let (tls, serverName) = (tls, serverName)
        let bootstrap = ClientBootstrap(group: group)
            .connectTimeout(TimeAmount(configuration.connectTimeout))
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .channelOption(.recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 16_384, maximum: 262_144))
        let initialise: @Sendable (any Channel) -> EventLoopFuture<ConnectionCore> = { channel in
            channel.eventLoop.makeCompletedFuture {
                if let tls {
                    let handler = try NIOSSLClientHandler(context: tls, serverHostname: serverName)
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
                let handler = RedisChannelHandler(writeBuffer: writeBuffer, limits: limits, policy: policy, onRetire: onRetire)
                try channel.pipeline.syncOperations.addHandler(handler)
                return ConnectionCore(channel: channel, handler: handler, writeBuffer: writeBuffer, commandTimeout: timeout)
            }
        }
        switch configuration.endpoint {
        case .tcp(let host, let port): return try await bootstrap.connect(host: host, port: port, channelInitializer: initialise)
        case .unixSocket(let path):
            return try await bootstrap.connect(unixDomainSocketPath: path, channelInitializer: initialise)
        case .sentinel: throw RedisError(.invalidConfiguration, "commands cannot be sent to a Sentinel instead of its master")
        case .cluster: throw RedisError(.invalidConfiguration, "a connection is made to one server of a cluster, not to all")
        }
    }

    /// The host name for SNI and for checking the certificate; nil for an IP address, which the certificate must contain itself.
    private var serverName: String? {
        guard case .tcp(let host, _) = configuration.endpoint else { return nil }
        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
        return isAddress ? nil : host
    }

    /// Authenticates, selects the database, names the connection and checks that the server executes commands.
    ///
    /// - Returns: The server's number for the connection; nil when its ACL rules refuse `CLIENT ID`.
    private func logIn(_ core: ConnectionCore, deadline: NIODeadline) async throws(RedisError) -> Int? {
        var commands: [RedisCommand] = []
        if let password = configuration.password {
            commands.append(RedisCommand("AUTH", arguments: [configuration.username, password].compactMap { $0 }))
        }
        if configuration.database != 0 { commands.append(RedisCommand("SELECT", configuration.database)) }
        let name = String(configuration.clientName.map { $0.isASCII && $0 > " " && $0 <= "~" ? $0 : "-" })
        commands += [RedisCommand("PING"), RedisCommand("CLIENT", "SETNAME", name), RedisCommand("CLIENT", "ID")]

        let replies = try await core.pipeline(commands, deadline: deadline)
        for (command, reply) in zip(commands, replies) {
            guard let error = reply.error else { continue }
            switch (command.name, error.code) {
            case ("AUTH", .server(.loading)): throw error
            case ("AUTH", _), (_, .server(.noAuth)):
                throw RedisError(.authenticationFailed, "the server refused the log-in", underlying: error)
            case ("CLIENT", _), ("PING", .server(.noPermission)): continue
            default: throw error
            }
        }
        return replies.last?.integer
    }
}
