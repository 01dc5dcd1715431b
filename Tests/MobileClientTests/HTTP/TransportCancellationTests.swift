import Foundation
import Testing

@testable import MobileClient

@Suite(.timeLimit(.minutes(5))) struct TransportCancellationTests {
    let transport = URLSessionTransport()

    /// A server that says when a request has come and when its connection has ended, and that answers nothing.
    private func silentServer() throws -> (server: LocalServer, came: AsyncStream<Void>, ended: AsyncStream<Void>) {
        let (came, come) = AsyncStream.makeStream(of: Void.self)
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        let server = try LocalServer { _, connection in
            come.yield()
            connection.waitForEnd()
            end.yield()
        }
        return (server, came, ended)
    }

    @Test func `cancelling the task ends the request and its connection`() async throws {
        let (server, came, ended) = try silentServer()
        let task = Task { [transport] in try await transport.send(TransportRequest("GET", server.url), maxBytes: 10) }
        for await _ in came { break }
        task.cancel()
        let error = await #expect(throws: TransportError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        for await _ in ended { break }
    }

    @Test func `a task that is cancelled before sends nothing`() async throws {
        let (server, _, _) = try silentServer()
        let task = Task { [transport] in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await transport.send(TransportRequest("GET", server.url), maxBytes: 10)
        }
        let error = await #expect(throws: TransportError.self) { try await task.value }
        #expect(error?.code == .cancelled && server.received.isEmpty)
    }

    @Test func `cancelling a download leaves no file`() async throws {
        let folder = try TemporaryFolder()
        let (came, come) = AsyncStream.makeStream(of: Void.self)
        let server = try LocalServer { _, connection in
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
            come.yield()
            connection.waitForEnd()
        }
        let file = folder.url.appendingPathComponent("file")
        let task = Task { [transport] in try await transport.download(TransportRequest("GET", server.url), to: file, maxBytes: 1000) }
        for await _ in came { break }
        task.cancel()
        let error = await #expect(throws: TransportError.self) { try await task.value }
        #expect(error?.code == .cancelled && folder.files == [])
    }

    @Test func `cancelling a stream ends it`() async throws {
        let (lines, line) = AsyncStream.makeStream(of: String.self)
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        let server = try LocalServer { _, connection in
            connection.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n")
            connection.waitForEnd()
            end.yield()
        }
        let task = Task { [transport] in
            try await transport.stream(TransportRequest("GET", server.url)) {
                line.yield($0)
                return true
            }
        }
        for await _ in lines { break }
        task.cancel()
        let error = await #expect(throws: TransportError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        for await _ in ended { break }
    }

    @Test func `the end of the transport ends its session`() async throws {
        weak var delegate: TransferDelegate?
        do {
            let transport = URLSessionTransport()
            delegate = transport.delegate
            let server = try LocalServer { _, connection in connection.answer() }
            _ = try await transport.send(TransportRequest("GET", server.url), maxBytes: 10)
            #expect(transport.delegate.count == 0)
        }
        await until { delegate == nil }
    }
}
