import Logging
import RedisClient
import TestSupport
import Testing

@Suite struct SentinelTests {
    /// A Sentinel that stood still for two seconds does nothing for thirty (its TILT mode).
    private static let failoverTime: Duration = .seconds(180)

    private func configuration(of cluster: SentinelCluster, first: [String] = []) throws -> RedisConfiguration {
        var configuration = try RedisConfiguration(url: cluster.url(first: first))
        configuration.caFile = cluster.authority
        configuration.sentinelPassword = SentinelCluster.sentinelPassword
        configuration.commandTimeout = .seconds(15)
        return configuration
    }

    @Test(.enabled("the server was built without TLS") { try await RedisServer.hasTLS })
    func `After the master dies commands go to its promoted replica, with TLS and passwords everywhere`() async throws {
        let cluster = try await SentinelCluster.start(tls: true)
        // No Sentinel listens on the first address.
        let first = ["127.0.0.1:\(try FreePort.find())"]
        let client = RedisClient(configuration: try configuration(of: cluster, first: first), logger: .quiet)
        _ = try await client.send(RedisCommand("SET", "key", "before"))
        let (master, replica) = (cluster.servers[0], cluster.servers[1])
        try await eventually("the replica has the value") { try await replica.cli("GET", "key") == "before\n" }
        await master.kill()
        try await eventually(within: Self.failoverTime, "a write succeeds again") {
            (try? await client.send(RedisCommand("SET", "key", "after"))) != nil
        }
        try await eventually("the replica became the master and took the write") {
            guard let role = try? await replica.cli("ROLE"), role.hasPrefix("master") else { return false }
            return (try? await replica.cli("GET", "key")) == "after\n"
        }
        await client.shutdown()
    }

    @Test func `After a manual failover commands go to the new master, although the old one still runs`() async throws {
        let cluster = try await SentinelCluster.start(tls: false)
        let client = RedisClient(configuration: try configuration(of: cluster), logger: .quiet)
        #expect(try await client.send(RedisCommand("ROLE")).array?.first?.string == "master")
        let before = try await client.send(RedisCommand("CONFIG", "GET", "port")).array?.last?.string
        // A Sentinel may refuse the failover (it has no news of the replica yet, or one is under way), and aborts it when it takes too
        // long. Each server closes its clients' connections when its role changes, at any of these moments.
        let role = try await eventually(within: Self.failoverTime, "the other server executes a write") { () -> String? in
            guard (try? await client.send(RedisCommand("SET", "key", "after"))) != nil,
                let port = try? await client.send(RedisCommand("CONFIG", "GET", "port")).array?.last?.string
            else { return nil }
            guard port != before else {
                try await cluster.ask(cluster.ports[0], "SENTINEL", "FAILOVER", SentinelCluster.masterName)
                return nil
            }
            // A dedicated connection asks the Sentinels as well.
            return try? await client.withDedicatedConnection { try await $0.send(RedisCommand("ROLE")).array?.first?.string }
        }
        #expect(role == "master")
        await client.shutdown()
    }

    @Test func `The error names the Sentinels when none of them can be reached`() async throws {
        let configuration = try RedisConfiguration(url: "redis+sentinel://127.0.0.1:\(try FreePort.find())/mymaster")
        let client = RedisClient(configuration: configuration, logger: .quiet)
        let error = await redisError { try await client.dedicatedConnection() }
        #expect(error?.code == .connectionFailed)
        #expect(error.map { "\($0)" }?.contains("no Sentinel knows the address of mymaster") == true)
        await client.shutdown()
    }
}
