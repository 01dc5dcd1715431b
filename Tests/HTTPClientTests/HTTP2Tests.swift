import HTTPClient
import TestSupport
import Testing

/// Tests against nghttpd, a third-party HTTP/2 server.
@Suite struct HTTP2Tests {
    @Test func `HTTP 2 is negotiated and the response is whole`() async throws {
        let server = try await NGHTTPServer()
        try await withClient(.http2, configure: { $0.caFile = server.authority }) { client in
            let response = try await client.execute(HTTPClientRequest(url: server.url + "file.txt", timeout: .seconds(120)))
            #expect(response.status == 200)
            #expect(response.httpVersion == .http2)
            #expect(String(decoding: response.body, as: UTF8.self) == "file")
            #expect(try await client.execute(HTTPClientRequest(url: server.url + "none", timeout: .seconds(120))).status == 404)
        }
    }

    @Test func `a large body is sent and received`() async throws {
        let server = try await NGHTTPServer()
        let body = (0..<900_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try await withClient(.http2, configure: { $0.caFile = server.authority }) { client in
            let response = try await client.execute(
                HTTPClientRequest(method: "POST", url: server.url, body: body, timeout: .seconds(120)))
            #expect(response.body == body)
        }
    }
}
