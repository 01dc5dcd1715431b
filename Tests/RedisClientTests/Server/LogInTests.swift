import RedisClient
import TestSupport
import Testing

/// Passwords, users, databases and TLS.
@Suite struct LogInTests {
    @Test func `The right password logs in; a wrong or missing one fails at once`() async throws {
        let server = try await RedisServer.start(tcp: true)
        try await server.cli("CONFIG", "SET", "requirepass", "pass/word")
        let address = "127.0.0.1:\(try #require(server.port))"
        try await withClient(url: "redis://:pass%2Fword@\(address)") { client, _ in try await client.ping() }
        for url in ["redis://:wrong@\(address)", "redis://\(address)"] {
            try await withClient(url: url) { client, _ in
                let error = await redisError { try await client.ping(timeout: .seconds(30)) }
                #expect(error?.code == .authenticationFailed)
                #expect(error?.mayHaveExecuted == false)
                #expect(error.map { "\($0)".contains("wrong") } == false)
            }
        }
        await server.stop()
    }

    @Test func `A user is limited by its ACL rules`() async throws {
        let server = try await RedisServer.start()
        try await server.cli("ACL", "SETUSER", "bus", "on", ">secret", "~bus:*", "+@all", "-@dangerous")
        try await withClient(url: "unix://bus:secret@\(server.socket)") { client, _ in
            try await client.set("bus:1", [1])
            #expect(await redisError { try await client.get("other") }?.code == .server(.noPermission))
        }
        await server.stop()
    }

    @Test func `The database and the name of the connection are set`() async throws {
        let server = try await RedisServer.start()
        try await withClient(url: server.url + "?db=5", adjust: { $0.clientName = "a name" }) { client, _ in
            let list = try await client.send(RedisCommand("CLIENT", "INFO")).string
            #expect(list?.contains(" db=5 ") == true)
            #expect(list?.contains(" name=a-name ") == true)
        }
        await server.stop()
    }

    @Test(.enabled("the server was built without TLS") { try await RedisServer.hasTLS })
    func `TLS accepts a certificate of a trusted authority and no other`() async throws {
        let server = try await RedisServer.start(tls: true)
        let port = try #require(server.port)
        let authority = try #require(server.certificates).authority
        for host in ["localhost", "127.0.0.1"] {
            try await withClient(url: "rediss://\(host):\(port)", adjust: { $0.caFile = authority }) { client, prefix in
                let value = [UInt8](repeating: 9, count: 500_000)
                try await client.set(prefix, value)
                #expect(try await client.get(prefix) == value)
            }
        }
        try await withClient(url: "rediss://localhost:\(port)") { client, _ in
            #expect(await redisError { try await client.ping(timeout: .milliseconds(300)) }?.code == .connectionFailed)
        }
        await server.stop()
    }

    @Test(.enabled("the server was built without TLS") { try await RedisServer.hasTLS })
    func `TLS refuses the certificate of another server, although its authority is trusted`() async throws {
        let server = try await RedisServer.start(tls: true, names: TestCertificates.otherName)
        let port = try #require(server.port)
        let authority = try #require(server.certificates).authority
        for host in ["localhost", "127.0.0.1"] {
            try await withClient(url: "rediss://\(host):\(port)", adjust: { $0.caFile = authority }) { client, _ in
                #expect(await redisError { try await client.ping(timeout: .milliseconds(300)) }?.code == .connectionFailed)
            }
        }
        await server.stop()
    }

    @Test func `Unreadable certificate authorities are a configuration error`() async throws {
        try await withClient(url: "rediss://localhost:1", adjust: { $0.caFile = "/no/such/file.pem" }) { client, _ in
            #expect(await redisError { try await client.ping() }?.code == .invalidConfiguration)
            #expect(await redisError { try await client.run() }?.code == .invalidConfiguration)
        }
    }
}
