import AsyncPrimitives
import Logging
import NIOCore
import Synchronization

/// The servers of a cluster, each with a client of its own, which is made when it is first needed.
///
/// Source: https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/
final class RedisCluster: Sendable {
    struct State {
        /// nil until a server has named the masters.
        var map: SlotMap?
        var clients: [RedisAddress: RedisClient] = [:]
        /// The request for the map that is under way.
        var refresh: Task<Void, Never>?
        /// Why the map could not be had.
        var lastFailure: RedisError?
        var isShutDown = false
    }

    let configuration: RedisConfiguration
    /// The servers to ask first.
    let seeds: [RedisAddress]
    let logger: Logger
    let state = Mutex(State())

    init(seeds: [RedisAddress], configuration: RedisConfiguration, logger: Logger) {
        self.seeds = seeds
        self.configuration = configuration
        self.logger = logger
    }

    static var shutDownError: RedisError { RedisError(.shutDown, "the Redis client was shut down") }

    /// Returns the client of one server.
    func client(of server: RedisAddress) throws(RedisError) -> RedisClient {
        try state.withLock { state throws(RedisError) in
            if state.isShutDown { throw Self.shutDownError }
            if let client = state.clients[server] { return client }
            var configuration = configuration
            configuration.endpoint = .tcp(host: server.host, port: server.port)
            let client = RedisClient(serverOfCluster: configuration, logger: logger) { [weak self] error in
                self?.connectionEnded(error, to: server)
            }
            state.clients[server] = client
            return client
        }
    }

    /// Makes a connection to the master that has a key, for blocking reads of it.
    func dedicatedConnection(for key: String?) async throws(RedisError) -> RedisConnection {
        let map = try await map(deadline: .now() + TimeAmount(configuration.connectTimeout))
        guard let server = key.map({ map.master(of: ClusterSlot(ofKey: $0)) }) ?? map.masters.randomElement() else {
            refresh()
            throw RedisError(.connectionFailed, "no server of the cluster has the slot of the key")
        }
        do throws(RedisError) {
            return try await client(of: server).dedicatedConnection()
        } catch {
            if error.isRetryable { refresh() }
            throw error
        }
    }

    /// Closes all connections, as ``RedisClient/shutdown()`` does.
    func shutdown() async {
        let (clients, refresh) = state.withLock { state in
            state.isShutDown = true
            defer { state.clients = [:] }
            return (Array(state.clients.values), state.refresh)
        }
        refresh?.cancel()
        await withTaskGroup { group in
            for client in clients { group.addTask { await client.shutdown() } }
        }
    }

    /// Learns from the end of a connection: a failover may have ended it, or a reader's stream moved to another server.
    private func connectionEnded(_ error: RedisError, to server: RedisAddress) {
        if error.code == .shutDown { return }
        if let redirection = Redirection(error, from: server), redirection.isMoved { assign([redirection]) }
        refresh()
    }
}
