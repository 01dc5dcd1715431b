import Foundation
import Testing

@testable import MobileClient

@Suite(.timeLimit(.minutes(5))) struct TransportStreamTests {
    let transport = URLSessionTransport()
    private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"

    /// The lines of an answer, and the answer.
    private func lines(of server: LocalServer, atMost count: Int = .max) async throws -> ([String], TransportResponse) {
        let lines = Locked<[String]>([])
        let response = try await transport.stream(TransportRequest("GET", server.url)) { line in
            lines.withLock { lines in
                lines.append(line)
                return lines.count < count
            }
        }
        return (lines.withLock { $0 }, response)
    }

    @Test func `each line is handed on as it arrives`() async throws {
        let taken = DispatchSemaphore(value: 0)
        let server = try LocalServer { _, connection in
            connection.write(Self.head)
            for number in 0..<5 {
                connection.write("data: \(number)\r\n")
                // The next one is sent when this one was handed on.
                taken.wait()
            }
        }
        let lines = Locked<[String]>([])
        let response = try await transport.stream(TransportRequest("GET", server.url)) { line in
            lines.withLock { $0.append(line) }
            taken.signal()
            return true
        }
        #expect(lines.withLock { $0 } == (0..<5).map { "data: \($0)" } && response.status == 200 && response.body.isEmpty)
    }

    @Test func `a reader that has enough ends the stream`() async throws {
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        let server = try LocalServer { _, connection in
            connection.write("\(Self.head)1\n2\n3\n")
            connection.waitForEnd()
            end.yield()
        }
        let (lines, response) = try await lines(of: server, atMost: 2)
        #expect(lines == ["1", "2"] && response.status == 200)
        for await _ in ended { break }
    }

    @Test func `an answer with another status has its body and no line`() async throws {
        let server = try LocalServer { _, connection in connection.answer("403 Forbidden", [:], "{}\n{}\n") }
        let (lines, response) = try await lines(of: server)
        #expect(lines == [] && response.status == 403 && response.body == Data("{}\n{}\n".utf8))
    }

    @Test func `a line without an end is refused`() async throws {
        let server = try LocalServer { _, connection in
            connection.write(Self.head)
            while connection.write(String(repeating: "a", count: 0x4000)) {}
        }
        let error = await #expect(throws: TransportError.self) { try await lines(of: server) }
        #expect(error?.code == .tooLong)
    }

    @Test func `a stream that is faster than its reader is refused`() async throws {
        let server = try LocalServer { _, connection in
            connection.write(Self.head)
            while connection.write(String(repeating: "a\n", count: 0x4000)) {}
        }
        let (refused, refuse) = AsyncStream.makeStream(of: Void.self)
        let error = await #expect(throws: TransportError.self) {
            try await transport.stream(TransportRequest("GET", server.url)) { [transport] _ in
                // Holds the stream until the transfer is over.
                while transport.delegate.isBusy { try? await Task.sleep(for: .milliseconds(5)) }
                refuse.yield()
                return true
            }
        }
        #expect(error?.code == .tooLong)
        for await _ in refused { break }
    }

    @Test func `a stream that falls silent times out`() async throws {
        let server = try LocalServer { _, connection in
            connection.write("\(Self.head)1\n")
            connection.waitForEnd()
        }
        let error = await #expect(throws: TransportError.self) {
            try await transport.stream(TransportRequest("GET", server.url, timeout: .milliseconds(200))) { _ in true }
        }
        #expect(error?.code == .timedOut)
    }
}
