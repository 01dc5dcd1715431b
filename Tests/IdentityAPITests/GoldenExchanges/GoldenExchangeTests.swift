import Foundation
import JSON
import ServiceDefaults
import TestSupport
import Testing

@testable import IdentityAPI

/// Golden exchanges as a whole. Those of each part of the API are in the suites beside this one.
@Suite struct GoldenExchangeTests {
    private static var names: Set<String> {
        get throws {
            let files = try FileManager.default.contentsOfDirectory(atPath: GoldenExchanges.folder)
            return Set(files.filter { $0.hasSuffix(".json") }.map { String($0.dropLast(5)) })
        }
    }

    /// A file that no test exchanges would be a canned response.
    @Test func `every golden exchange is exchanged by a test of this folder`() throws {
        let folder = PackageRoot.path + "/Tests/IdentityAPITests/GoldenExchanges"
        let sources = try FileManager.default.contentsOfDirectory(atPath: folder).map {
            try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8)
        }
        let text = sources.joined()
        let exchanged = Set(text.matches(of: /\.run\(\s*"([\w-]+)"/).map { String($0.output.1) } + GoldenFaceTests.failures)
        #expect(exchanged.subtracting(try Self.names).isEmpty, "they have no file")
        #expect(try Self.names.subtracting(exchanged).isEmpty, "no test exchanges them")
        #expect(exchanged.count > 90)
    }

    @Test func `a golden exchange has a request and a response, and no secret or time of a run`() throws {
        for name in try Self.names {
            let text = try String(contentsOfFile: "\(GoldenExchanges.folder)/\(name).json", encoding: .utf8)
            let file = try JSONValue(parsing: Array(text.utf8))
            #expect(file.members?.map(\.name) == ["request", "response"], "\(name)")
            #expect(file["request"]?.members?.map(\.name) == ["method", "path", "headers", "body"], "\(name)")
            #expect(file["response"]?.members?.map(\.name) == ["status", "headers", "body"], "\(name)")
            #expect(text.firstMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-|"[A-Za-z0-9_-]{43}"|"20\d\d-\d\d-\d\dT/) == nil, "\(name)")
        }
    }

    @Test(.api { $0.limits.address = Rate(perMinute: 1, burst: 1) })
    func `an address over its rate`() async throws {
        _ = try await api.send("GET", "/v1/templates")
        try await GoldenExchanges(api).run("templates-rate-limited")
    }

    @Test(.api) func `the templates`() async throws {
        try await GoldenExchanges(api).run("templates-list")
    }

    @Test(.api) func `a request with a body of another kind`() async throws {
        let golden = GoldenExchanges(api, ["<token>": try await api.customer().token])
        try await golden.run("message-unsupported-media-type")
    }
}
