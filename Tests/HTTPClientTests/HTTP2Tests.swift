import Foundation
import HTTPClient
import Testing
import TestSupport

/// Against nghttpd, an HTTP/2 server that is none of our making.
@Suite struct HTTP2Tests {
    /// nghttpd with TLS, which sends back what is posted to it.
    final class Server: Sendable {
        let directory: TemporaryDirectory
        let port: Int
        let process: GuardedProcess
        var authority: String { directory.path + "/ca.pem" }
        var url: String { "https://localhost:\(port)/" }

        init(port: Int? = nil, directory: TemporaryDirectory? = nil, arguments: [String] = []) async throws {
            let folder = try directory ?? TemporaryDirectory()
            let (certificate, key) = (folder.path + "/server.pem", folder.path + "/server.key")
            if directory == nil {
                try await TestCertificates.make(
                    authority: folder.path + "/ca.pem", certificate: certificate, key: key, folder: folder.path)
                try Data("file".utf8).write(to: URL(fileURLWithPath: folder.path + "/file.txt"))
            }
            self.directory = folder
            self.port = try port ?? FreePort.find()
            process = try GuardedProcess(
                ["/usr/sbin/nghttpd", "--address=127.0.0.1", "--htdocs=\(folder.path)", "--echo-upload"] + arguments
                    + ["\(self.port)", key, certificate], log: folder.path + "/nghttpd.log")
        }

        /// Waits until the server answers, as it says nothing when it is ready.
        func waitUntilReady(_ client: HTTPClient) async throws {
            try await eventually("nghttpd answers") {
                await failure(client, HTTPClientRequest(url: url + "file.txt")) == nil
            }
        }
    }

    @Test func `HTTP 2 is negotiated and the answer is whole`() async throws {
        let server = try await Server()
        try await withClient(.http2, configure: { $0.caFile = server.authority }) { client in
            try await server.waitUntilReady(client)
            let response = try await client.execute(HTTPClientRequest(url: server.url + "file.txt"))
            #expect(response.status == 200)
            #expect(response.httpVersion == .http2)
            #expect(String(decoding: response.body, as: UTF8.self) == "file")
            #expect(try await client.execute(HTTPClientRequest(url: server.url + "none")).status == 404)
        }
    }

    @Test func `a thousand requests share few connections`() async throws {
        let server = try await Server()
        try await withClient(.http2, configure: { $0.caFile = server.authority }) { client in
            try await server.waitUntilReady(client)
            let url = server.url
            let opened = try await withThrowingTaskGroup(of: Int.self) { group in
                for index in 0..<1000 {
                    group.addTask {
                        let body = Array("request \(index)".utf8)
                        let response = try await client.execute(HTTPClientRequest(method: "POST", url: url, body: body))
                        #expect(response.body == body)
                        return response.connectionsOpened
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(opened <= 3, "together with the first connection at most 4")
        }
    }

    @Test func `a large body goes both ways`() async throws {
        let server = try await Server()
        let body = (0..<900_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try await withClient(.http2, configure: { $0.caFile = server.authority }) { client in
            try await server.waitUntilReady(client)
            let response = try await client.execute(HTTPClientRequest(method: "POST", url: server.url, body: body))
            #expect(response.body == body)
        }
    }

    @Test func `a server of an unknown authority is not spoken to`() async throws {
        let server = try await Server()
        try await withClient(.http2, configure: { $0.caFile = server.authority }) { client in
            try await server.waitUntilReady(client)
        }
        try await withClient(.http2) { client in
            let error = await failure(client, FaultTests.post(server.url))
            #expect(error?.code == .notSent)
            #expect(error?.curlCode == 60)
        }
    }

    @Test func `the client finds a server that was restarted`() async throws {
        let server = try await Server()
        try await withClient(.http2, configure: { $0.caFile = server.authority }) { client in
            try await server.waitUntilReady(client)
            server.process.signal(9)
            try await eventually("requests fail") { await failure(client, FaultTests.post(server.url)) != nil }
            await server.process.stop()
            let again = try await Server(port: server.port, directory: server.directory)
            try await again.waitUntilReady(client)
            #expect(try await client.execute(FaultTests.post(again.url)).status == 200)
        }
    }

    @Test func `a server that allows few streams gets few at a time`() async throws {
        let server = try await Server(arguments: ["--max-concurrent-streams=5"])
        try await withClient(.http2, configure: { $0.caFile = server.authority }) { client in
            try await server.waitUntilReady(client)
            let url = server.url
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<200 {
                    group.addTask {
                        let response = try await client.execute(FaultTests.post(url))
                        #expect(response.status == 200)
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}
