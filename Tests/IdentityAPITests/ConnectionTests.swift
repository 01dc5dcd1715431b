import Foundation
import NIOCore
import TestSupport
import Testing

@testable import IdentityAPI

/// Tests clients that send or read too slowly, or send bytes that are not a request.
@Suite struct ConnectionTests {
    private static let drippingBodies: [(line: String, rest: String, status: String)] = [
        ("POST /nowhere", "Content-Length: 60000\r\n\r\n", "404"),
        ("POST /nowhere", "Transfer-Encoding: chunked\r\n\r\nea60\r\n", "404"),
        ("POST /api/v1/auth/logout", "Content-Length: 60000\r\n\r\n", "401"),
        ("GET /api/v1/ekyc/sessions/x", "Content-Length: 60000\r\n\r\n", "401"),
        ("POST /api/v1/auth/refresh", "Content-Type: application/json\r\nContent-Length: 4000\r\n\r\n", "408"),
        ("POST /api/v1/auth/refresh", "Content-Type: text/plain\r\nContent-Length: 4000\r\n\r\n", "415"),
    ]

    @Test(
        .api {
            $0.connection.patience = .milliseconds(300)
            // With this rate, single bytes never extend the time limit, however fast the machine sends them.
            $0.connection.bytesASecond = 1 << 30
            $0.connection.lingerTime = .seconds(2)
        })
    func `A connection with a dripping body is closed after any response`() async throws {
        _ = try await race(Self.drippingBodies.count) { number in
            let (line, rest, status) = Self.drippingBodies[number]
            let connection = try RawConnection(port: api.port)
            try await connection.send("\(line) HTTP/1.1\r\nHost: x\r\n\(rest)")
            let answer = try #require(try await connection.receive(until: "\"meta\""))
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(line)")
            try await eventually("the connection is closed") { try await !connection.send([UInt8(ascii: " ")]) }
        }
    }

    @Test(.api) func `A connection is reused after a refused request with a small body`() async throws {
        let connection = try RawConnection(port: api.port)
        let body = String(repeating: "x", count: 1_000)
        for _ in 0..<2 {
            try await connection.send("POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n\(body)")
            let answer = try #require(try await connection.receive(until: "\"meta\""))
            #expect(answer.hasPrefix("HTTP/1.1 404 "))
            #expect(!answer.lowercased().contains("connection: close"))
        }
    }

    @Test(.api) func `A client that expects 100 Continue gets it only if its body is read`() async throws {
        let asking = "Host: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
        let wanted = try RawConnection(port: api.port)
        try await wanted.send("POST /api/v1/auth/refresh HTTP/1.1\r\n\(asking)")
        #expect(try await wanted.receive(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
        try await wanted.send("{}")
        #expect(try await wanted.receive(until: "\"meta\"")?.contains("missing_field") == true)
        let refused = try RawConnection(port: api.port)
        try await refused.send("POST /nowhere HTTP/1.1\r\n\(asking)")
        let answer = try #require(try await refused.receive(until: "\"meta\""))
        #expect(answer.hasPrefix("HTTP/1.1 404 "))
        #expect(answer.lowercased().contains("connection: close"))
    }

    private static let nonsense: [(bytes: String, answer: String)] = [
        ("NONSENSE\r\n\r\n", "501"), ("get / HTTP/1.1\r\nHost: x\r\n\r\n", "501"),
        ("GET / HTTP/1.1\r\nHost: x\r\n no colon here\u{1}\r\n\r\n", "400"), ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", ""),
        ("GET / HTTP/1.1\r\nX-Long: " + String(repeating: "a", count: 20_000) + "\r\n\r\n", "431"),
        ("GET /" + String(repeating: "a", count: 20_000) + " HTTP/1.1\r\nHost: x\r\n\r\n", ""),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", "400"),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400"),
    ]

    @Test(.api { $0.connection.lingerTime = .seconds(2) })
    func `Bytes that are not a request get the error envelope, and the connection is closed`() async throws {
        _ = try await race(Self.nonsense.count) { number in
            let (bytes, status) = Self.nonsense[number]
            let connection = try RawConnection(port: api.port)
            try await connection.send(bytes)
            let answer = try #require(try await connection.receive(), "the connection is not closed")
            #expect(answer.hasPrefix("HTTP/1.1 \(status)"), "\(bytes.prefix(40)): \(answer.prefix(40))")
            #expect(answer.contains(#""code":1000,"message":"The request"#), "\(bytes.prefix(40))")
            #expect(answer.contains(#""requestId":""#), "\(bytes.prefix(40))")
        }
    }

    private static let headPaths: [String] = ["/nowhere", "/api/v1/auth/logout", "/api/v1/ekyc/sessions/x"]

    @Test(.api) func `A response to HEAD has no body, which would be taken for the next response`() async throws {
        for path in Self.headPaths {
            let connection = try RawConnection(port: api.port)
            try await connection.send("HEAD \(path) HTTP/1.1\r\nHost: x\r\n\r\nGET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n")
            let answer = try #require(try await connection.receive(until: "\"meta\""))
            #expect(answer.matches(of: /\r\n\r\nHTTP\/1\.1 404/).count == 1, "\(path)")
            #expect(answer.components(separatedBy: "{\"success\"").count == 2, "one body")
        }
    }

    @Test(.api { $0.connection.lingerTime = .seconds(2) }) func `Requests before an unreadable one are answered first`() async throws {
        let connection = try RawConnection(port: api.port)
        try await connection.send("GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\nNONSENSE\r\n\r\n")
        let answer = try #require(try await connection.receive())
        let statuses = answer.matches(of: /HTTP\/1\.1 (\d{3})/).map { String($0.1) }
        #expect(statuses == ["404", "501"])
    }

    @Test(.api { $0.connection.unreadAnswers = .milliseconds(300) })
    func `A client that reads no responses is disconnected`() async throws {
        let connection = try RawConnection(port: api.port)
        let request = Array("GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
        // The answers to repeated bursts exceed all buffers in between; sending fails when the server disconnects.
        let burst = Array(repeatElement(request, count: 1_000).joined())
        try await eventually("the server hangs up") { try await !connection.send(burst) }
    }
}
