import Foundation
import HTTPClient
import HTTPTypes
import HummingbirdCore
import NIOCore
import PostgresClient
import ServiceDefaults
import TestSupport
import Testing

@testable import IdentityAPI

/// Tests the HTTP behaviour that browsers and caches expect of an API.
@Suite struct WebTests {
    private static let origin = "https://app.example.org"

    private func withWebApp(_ body: (IdentityFixture) async throws -> Void) async throws {
        try await withIdentityAPI {
            $0.origins = AllowedOrigins([Self.origin])
        } _: {
            try await body($0)
        }
    }

    @Test(.api) func `HEAD answers like GET, without the body`() async throws {
        let customer = try await api.customer()
        let job = try await api.job(by: customer)
        try await api.complete(job)
        let session = try await api.start()
        let bearer = (name: "Authorization", value: "Bearer \(session.token)")
        let requests: [(String, (name: String, value: String))] = [
            ("/", bearer), ("/v1/templates", bearer), (Path.session(session.id), bearer), (Path.session(UUID()), bearer),
            (Path.jobs, customer.bearer), (Path.job(job), customer.bearer), ("/v1/topics/event:none/members", customer.bearer),
        ]
        for (path, bearer) in requests {
            let headers: [(name: String, value: String)] = [bearer, ("X-Request-ID", "r-1")]
            let get = try await api.send("GET", path, headers: headers)
            let head = try await api.send("HEAD", path, headers: headers)
            #expect(head.status == get.status && head.body.isEmpty && !get.body.isEmpty, "\(path)")
            for name in ["Content-Type", "Content-Length", "ETag", "Cache-Control"] {
                #expect(head.header(name) == get.header(name), "\(name) of \(path)")
            }
        }
    }

    @Test(.api) func `HEAD of a result does not mark it as seen`() async throws {
        let customer = try await api.customer()
        let job = try await api.job(by: customer)
        try await api.complete(job)
        func isSeen() async throws -> Bool {
            try await api.postgres.query("SELECT seen_at IS NOT NULL AS seen FROM image_jobs")[0].decode("seen")
        }
        #expect(try await api.send("HEAD", Path.job(job), headers: [customer.bearer]).status == 200)
        #expect(try await !isSeen())
        #expect(try await api.get(Path.job(job), by: customer).status == 200)
        #expect(try await isSeen())
    }

    @Test func `a page of an allowed origin may send preflights and read responses and errors`() async throws {
        try await withWebApp { api in
            let origin = (name: "Origin", value: Self.origin)
            let preflight = try await api.send(
                "OPTIONS", Path.jobs,
                headers: [origin, ("Access-Control-Request-Method", "GET"), ("Access-Control-Request-Headers", "authorization")])
            #expect(preflight.status == 204 && preflight.body.isEmpty)
            #expect(preflight.header("Access-Control-Allow-Origin") == Self.origin)
            #expect(preflight.header("Access-Control-Allow-Methods")?.contains("DELETE") == true)
            let fields = preflight.header("Access-Control-Allow-Headers") ?? ""
            #expect(["Authorization", "DPoP", "X-Session-Token"].allSatisfy(fields.contains))
            #expect(preflight.header("Access-Control-Allow-Credentials") == nil)
            for path in ["/v1/templates", Path.jobs, "/nothing"] {
                let answer = try await api.send("GET", path, headers: [origin])
                #expect(answer.header("Access-Control-Allow-Origin") == Self.origin, "\(path): \(answer.status)")
                #expect(answer.header("Access-Control-Expose-Headers")?.contains("X-Session-Token") == true)
                #expect(answer.header("Vary") == "Origin")
            }
        }
    }

    private static let otherOrigins: [String] = [
        "https://evil.example.org", "https://app.example.org.evil.org", "http://app.example.org", "null",
    ]

    @Test func `a page of another origin may not read responses`() async throws {
        try await withWebApp { api in
            for origin in Self.otherOrigins {
                let answer = try await api.send("GET", "/v1/templates", headers: [("Origin", origin)])
                #expect(answer.status == 200 && answer.header("Access-Control-Allow-Origin") == nil, "\(origin)")
                let headers = [(name: "Origin", value: origin), (name: "Access-Control-Request-Method", value: "GET")]
                let preflight = try await api.send("OPTIONS", "/v1/templates", headers: headers)
                #expect(preflight.header("Access-Control-Allow-Origin") == nil, "\(origin)")
            }
        }
    }

    @Test(.api) func `without the setting no other origin may read responses`() async throws {
        let answer = try await api.send("GET", "/v1/templates", headers: [("Origin", Self.origin)])
        #expect(answer.header("Access-Control-Allow-Origin") == nil && answer.header("Vary") == nil)
    }

    @Test(arguments: [
        "*", "app.example.org", "https://app.example.org/x", "https://a_.org:0", "https://a.org:99999", "http://a.org", "null",
    ])
    func `an invalid CORS_ALLOWED_ORIGINS stops the start, and its part is named`(text: String) {
        let error = #expect(throws: ConfigurationError.self) {
            try AllowedOrigins(Settings(environment: ["CORS_ALLOWED_ORIGINS": "https://fine.org, \(text)"]))
        }
        #expect(error?.problem.contains("part 2, \(text),") == true)
    }

    @Test(arguments: [
        ("https://a.org https://b.org", "https://b.org"), ("https://a.org:443", "https://a.org"), ("https://a.org/,", "https://a.org"),
        ("HTTPS://App.Example", "https://app.example"), ("https://exämple.org\nhttps://b.org", "https://xn--exmple-cua.org"),
        ("http://localhost:80", "http://localhost"), ("http://[::1]:3000", "http://[::1]:3000"),
        ("tauri://localhost/", "tauri://localhost"),
    ])
    func `an origin is allowed however the setting spells it`(text: String, origin: String) throws {
        let origins = try AllowedOrigins(Settings(environment: ["CORS_ALLOWED_ORIGINS": text]))
        let head = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/", headerFields: [.origin: origin])
        #expect(origins.origin(of: Request(head: head, body: RequestBody(buffer: ByteBuffer()))) == origin)
    }

    @Test func `origins are read as browsers send them`() throws {
        let origins = try AllowedOrigins(
            Settings(environment: ["CORS_ALLOWED_ORIGINS": "https://a.example.org, http://localhost:3000"]))
        #expect(!origins.isEmpty)
    }
}
