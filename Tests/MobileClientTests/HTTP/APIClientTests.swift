import Foundation
import Testing

@testable import MobileClient

@Suite(.timeLimit(.minutes(5))) struct APIClientTests {
    private func error(of body: () async throws -> Void, sourceLocation: SourceLocation = #_sourceLocation) async throws -> HeliographError
    {
        try #require(await #expect(throws: HeliographError.self, sourceLocation: sourceLocation) { try await body() })
    }

    @Test func `a request has the address, language, agent and a new id`() async throws {
        let fixture = try ClientFixture([.success(.json("{}")), .success(.json("{}"))])
        var request = ClientFixture.get("/v1/a%2Fb")
        request.query = [URLQueryItem(name: "q", value: "a+b&c=ü"), URLQueryItem(name: "empty", value: nil)]
        _ = try await fixture.client.send(request)
        _ = try await fixture.client.send(request)
        let sent = fixture.transport.sent[0]
        #expect(sent.url.absoluteString == "https://api.example.com/base/v1/a%2Fb?q=a%2Bb%26c%3D%C3%BC&empty=")
        #expect(sent.headers["accept-language"] == "de-CH" && sent.headers["user-agent"] == "MobileClient (app 1.2)")
        #expect(sent.headers["accept"] == "application/json" && sent.headers["authorization"] == nil)
        let ids = fixture.transport.sent.compactMap { $0.headers["x-request-id"] }
        #expect(ids.count == 2 && ids[0] != ids[1] && ids[0].count == 36 && ids[0] == ids[0].lowercased())
    }

    @Test func `the idempotency key is the id of all attempts`() async throws {
        let fixture = try ClientFixture([.failure(TransportError(.connectionLost, "")), .success(.json("{}"))])
        let key = UUID()
        var request = ClientFixture.get()
        (request.method, request.idempotencyKey, request.body) = ("POST", key, .json(Data("{}".utf8)))
        _ = try await fixture.client.send(request)
        #expect(fixture.transport.sent.map { $0.headers["x-request-id"] } == [key.uuidString.lowercased(), key.uuidString.lowercased()])
        #expect(fixture.transport.sent.allSatisfy { $0.body == .data(Data("{}".utf8)) && $0.headers["content-type"] == "application/json" })
    }

    @Test func `a multipart body is sent from its file`() async throws {
        let fixture = try ClientFixture([.success(.json("{}"))])
        var request = ClientFixture.get()
        let file = URL(fileURLWithPath: "/tmp/x")
        (request.method, request.body) = ("POST", .multipart(file: file, boundary: "b"))
        _ = try await fixture.client.send(request)
        #expect(fixture.transport.sent[0].body == .file(file))
        #expect(fixture.transport.sent[0].headers["content-type"] == "multipart/form-data; boundary=b")
    }

    @Test(arguments: ["v1", "@evil.example/", ".evil.example", ":443/x", "//evil.example/x/../..", "/a b", "/a?b", "/a#b", "/a\\b", ""])
    func `a path that is none of the API is not sent`(path: String) async throws {
        let fixture = try ClientFixture([.success(.json("{}"))])
        let error = try await error { _ = try await fixture.client.send(ClientFixture.get(path)) }
        #expect(error.code == .invalidArgument && fixture.transport.sent.isEmpty)
    }

    @Test func `an error of the API has its code, field, id and time to wait`() async throws {
        let answer = TransportResponse.failure(
            429, "account_locked", retryable: true, retryAfter: 60, headers: ["X-Request-ID": "r9", "Retry-After": "61"])
        let fixture = try ClientFixture([.success(answer)])
        let error = try await error { _ = try await fixture.client.send(ClientFixture.get()) }
        #expect(
            error
                == HeliographError(
                    .accountLocked, "no", status: 429, field: "f", requestID: "r9", retryAfter: .seconds(61), isRetryable: true))
    }

    @Test(arguments: [
        (401, "unauthorized"), (404, "unexpected_answer"), (302, "unexpected_answer"), (503, "overloaded"), (413, "payload_too_large"),
    ])
    func `an error of a proxy has a code by its status, and the id that was sent`(status: Int, code: String) async throws {
        let answer = TransportResponse(status: status, body: Data("<html>".utf8))
        let fixture = try ClientFixture([.success(answer), .success(answer), .success(answer)])
        let error = try await error { _ = try await fixture.client.send(ClientFixture.get()) }
        #expect(error.code.rawValue == code && error.status == status)
        #expect(error.requestID == fixture.transport.sent[0].headers["x-request-id"])
    }

    @Test(arguments: ["Mon, 15 Jan 2027 08:00:20 GMT", "20", "20.5", "-3", "soon"]) func `the time to wait may be a date`(value: String) {
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        let seconds = HeliographError.retryAfter(value, now: now)
        #expect(seconds == (value.hasPrefix("Mon") || value == "20" ? 20 : nil))
    }

    @Test(arguments: [
        (TransportError.Code.notConnected, "unreachable"), (.connectionLost, "unreachable"), (.timedOut, "timed_out"),
        (.cancelled, "cancelled"), (.tooLong, "unexpected_answer"), (.untrusted, "unreachable"), (.file, "storage"),
        (.other, "unreachable"),
    ])
    func `a request without an answer has a code`(code: TransportError.Code, expected: String) async throws {
        let fixture = try ClientFixture(Array(repeating: .failure(TransportError(code, "why")), count: 3))
        let error = try await error { _ = try await fixture.client.send(ClientFixture.get()) }
        #expect(error.code.rawValue == expected && error.status == nil && error.requestID != nil)
    }

    @Test func `an answer that cannot be read is unexpected`() async throws {
        let fixture = try ClientFixture([.success(.json("[]"))])
        var request = ClientFixture.get()
        request.decode = { try JSONDecoder().decode(String.self, from: $0.body) }
        let error = try await error { _ = try await fixture.client.send(request) }
        #expect(error.code == .unexpectedAnswer && error.status == 200)
    }

    @Test func `304 is an answer`() async throws {
        let fixture = try ClientFixture([.success(TransportResponse(status: 304))])
        #expect(try await fixture.client.send(ClientFixture.get()) == "")
    }

    @Test func `a download makes the file, or an error`() async throws {
        let fixture = try ClientFixture([
            .success(.failure(404, "job_not_found")), .success(TransportResponse(status: 204)), .success(.json("picture")),
        ])
        let file = fixture.folder.url.appendingPathComponent("picture")
        let request = APIRequest<Void>(method: "GET", path: "/media/x", bearer: .none) { _ in }
        for code in [HeliographError.Code.jobNotFound, .unexpectedAnswer] {
            let error = try await error { try await fixture.client.download(request, to: file, maxBytes: 100) }
            #expect(error.code == code && fixture.folder.files == [])
        }
        try await fixture.client.download(request, to: file, maxBytes: 100)
        #expect(try Data(contentsOf: file) == Data("picture".utf8))
    }

    @Test func `the base URL is https, or http to this device`() throws {
        func make(_ text: String, local: Bool = true, any: Bool = false) throws -> ClientConfiguration {
            try ClientConfiguration(
                baseURL: #require(URL(string: text)), appVersion: "1", folder: URL(fileURLWithPath: "/tmp"),
                allowsInsecureLocalhost: local, allowsInsecureHTTP: any)
        }
        #expect(try make("https://a.example//").baseURL.absoluteString == "https://a.example")
        for text in ["http://localhost:8080", "http://127.0.0.1", "http://[::1]:80"] {
            #expect(throws: Never.self) { try make(text) }
            #expect(throws: HeliographError.self) { try make(text, local: false) }
        }
        #expect(throws: Never.self) { try make("http://api:8080", any: true) }
        for text in ["http://a.example", "ftp://a.example", "https://u:p@a.example", "https://a.example?x", "https://a.example#x", "/x"] {
            #expect(throws: HeliographError.self) { try make(text) }
        }
    }
}
