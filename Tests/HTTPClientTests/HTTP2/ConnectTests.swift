import Foundation
import HTTPClient
import TestSupport
import Testing

@Suite struct ConnectTests {
    @Test(arguments: ["ftp://localhost", "http://a b", ""])
    func `an invalid origin fails as an invalid request`(origin: String) async throws {
        try await withHTTP2Client(origin) { client in
            try await client.expect(failure: .invalidRequest)
        }
    }

    @Test func `all calls that wait for an unreachable server fail`() async throws {
        let port = try FreePort.find()
        try await withHTTP2Client("http://127.0.0.1:\(port)") { client in
            let errors = try await race(100) { _ in await client.error() }
            #expect(errors.allSatisfy { $0?.code == .notSent })
        }
    }

    @Test func `the error names a server that speaks HTTP 1 only`() async throws {
        let server = try await ScriptedServer { connection in
            _ = try await connection.read()
            try await connection.write("HTTP/1.1 400 Bad Request\r\n\r\n")
        }
        try await withHTTP2Client(server.origin) { client in
            let error = try await client.failure()
            #expect(error?.code == .notSent)
            #expect(error?.message.contains("does not speak HTTP/2") == true)
        }
    }

    @Test func `no request is sent to a TLS server that does not offer HTTP 2`() async throws {
        let directory = try TemporaryDirectory()
        let file = { (name: String) in directory.path + "/" + name }
        try await TestCertificates.make(
            authority: file("ca.pem"), certificate: file("server.pem"), key: file("server.key"), folder: directory.path)
        let server = try GuardedProcess(
            ["/usr/bin/openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", file("server.pem"), "-key", file("server.key")]
                + ["-alpn", "http/1.1", "-www"], log: file("log"))
        let port = try await eventually("the server prints its port") {
            let text = try String(contentsOfFile: file("log"), encoding: .utf8)
            return text.firstMatch(of: /ACCEPT 127\.0\.0\.1:(\d+)\n/).map { String($0.1) }
        }
        try await withHTTP2Client("https://localhost:\(port)", configure: { $0.caFile = file("ca.pem") }) { client in
            let error = try await client.failure()
            #expect(error?.code == .notSent)
            #expect(error?.mayHaveReachedServer == false)
            #expect(error?.curlCode == 35 || error?.message.contains("does not speak HTTP/2") == true)
        }
        await server.stop()
    }

    @Test func `a call to a server that never sends SETTINGS fails as not sent`() async throws {
        let server = try await ScriptedServer { connection in try await connection.waitForClose() }
        try await withHTTP2Client(server.origin, configure: { $0.connectTimeout = .seconds(2) }) { client in
            try await client.expect(failure: .notSent, mayHaveReachedServer: false)
        }
    }

    @Test func `a call that waits for a connection times out unsent`() async throws {
        let server = try await ScriptedServer { connection in try await connection.waitForClose() }
        try await withHTTP2Client(server.origin, configure: { $0.timeout = .milliseconds(50) }) { client in
            try await client.expect(failure: .timeout, mayHaveReachedServer: false)
        }
    }

    @Test func `a connection past its lifetime is replaced once it is idle`() async throws {
        let server = try await NGHTTPServer(isTLS: false)
        try await withHTTP2Client(server.origin, configure: { $0.connectionLifetime = .zero }) { client in
            var opened = 0
            try await eventually("several connections were used") {
                try await client.expect(status: 200)
                opened += client.takeConnectionsOpened()
                return opened >= 3
            }
        }
    }
}
