import Foundation
import Testing

@testable import MobileClient

@Suite(.timeLimit(.minutes(5))) struct TransportDownloadTests {
    let transport = URLSessionTransport()
    let folder: TemporaryFolder
    var file: URL { folder.url.appendingPathComponent("file") }

    init() throws { folder = try TemporaryFolder() }

    private func download(_ server: LocalServer, maxBytes: Int = 10_000_000, timeout: Duration = .seconds(30)) async throws
        -> TransportResponse
    {
        try await transport.download(TransportRequest("GET", server.url, timeout: timeout), to: file, maxBytes: maxBytes)
    }

    private func expectFailure(_ code: TransportError.Code, _ body: () async throws -> TransportResponse) async {
        let error = await #expect(throws: TransportError.self) { try await body() }
        #expect(error?.code == code, "\(String(describing: error))")
    }

    @Test func `the body goes to the file`() async throws {
        let content = String(repeating: "0123456789", count: 300_000)
        let server = try LocalServer { _, connection in connection.answer("200 OK", [:], content) }
        let response = try await download(server)
        #expect(response.status == 200 && response.body.isEmpty && folder.files == ["file"])
        #expect(try Data(contentsOf: file) == Data(content.utf8))
    }

    @Test func `an empty body is an empty file`() async throws {
        let server = try LocalServer { _, connection in connection.answer() }
        _ = try await download(server)
        #expect(try Data(contentsOf: file).isEmpty)
    }

    @Test func `an answer with another status has its body and no file`() async throws {
        let server = try LocalServer { _, connection in connection.answer("404 Not Found", [:], "gone") }
        let response = try await download(server)
        #expect(response.status == 404 && response.body == Data("gone".utf8) && folder.files == [])
    }

    @Test func `the explanation of an error is limited too`() async throws {
        let server = try LocalServer { _, connection in
            connection.answer("500 Internal Server Error", [:], String(repeating: "a", count: Transfer.maxErrorBytes + 1))
        }
        await expectFailure(.tooLong) { try await download(server) }
    }

    @Test func `a longer body leaves no file`() async throws {
        let server = try LocalServer { _, connection in
            connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            while connection.write("4000\r\n\(String(repeating: "a", count: 0x4000))\r\n") {}
        }
        await expectFailure(.tooLong) { try await download(server, maxBytes: 100_000) }
        #expect(folder.files == [])
    }

    @Test func `a connection that is cut leaves no file`() async throws {
        let server = try LocalServer { _, connection in connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf") }
        await expectFailure(.connectionLost) { try await download(server) }
        #expect(folder.files == [])
    }

    @Test func `a download that stalls leaves no file`() async throws {
        let server = try LocalServer { _, connection in
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
            connection.waitForEnd()
        }
        await expectFailure(.timedOut) { try await download(server, timeout: .milliseconds(200)) }
        #expect(folder.files == [])
    }

    @Test func `a file that exists is not touched`() async throws {
        try Data("mine".utf8).write(to: file)
        let server = try LocalServer { _, connection in connection.answer("200 OK", [:], "theirs") }
        await expectFailure(.file) { try await download(server) }
        #expect(try Data(contentsOf: file) == Data("mine".utf8) && folder.files == ["file"])
    }

    @Test func `a folder that does not exist is an error`() async throws {
        let server = try LocalServer { _, connection in connection.answer("200 OK", [:], "x") }
        let file = folder.url.appendingPathComponent("none/file")
        await expectFailure(.file) {
            try await transport.download(TransportRequest("GET", server.url), to: file, maxBytes: 10)
        }
    }
}
