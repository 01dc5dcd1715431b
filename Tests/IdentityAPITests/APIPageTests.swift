import Foundation
import HTTPClient
import TestSupport
import Testing

@testable import IdentityAPI

@Suite struct APIPageTests {
    @Test(.api) func `A browser that opens the API gets its page, which may load nothing from elsewhere`() async throws {
        let response = try await api.send("GET", "/")
        #expect(response.status == 200)
        #expect(response.header("Content-Type") == "text/html; charset=utf-8")
        #expect(try #require(response.header("Content-Security-Policy")).hasPrefix("default-src 'none';"))
        #expect(response.text.contains("<title>Heliograph API</title>"))
    }

    @Test func `The page lists exactly the served requests`() throws {
        let source = try String(
            contentsOfFile: "\(PackageRoot.path)/Services/identity-api/IdentityAPI/HTTP/Router+build.swift", encoding: .utf8)
        let served = source.matches(of: #/serve\(\s*"([^"]+)", \[(.+)\], on/#).flatMap { match in
            match.2.matches(of: #/\.(get|head|post|put|patch|delete): /#).map { Self.request(String($0.1), match.1) }
        }
        let shown = APIPage.text.matches(of: #/<tr><th>(.+?) <code>(/[^<]+)</code>/#).flatMap { match in
            match.1.matches(of: #/[A-Z]{3,}/#).map { Self.request(String($0.0), match.2) }
        }
        #expect(served.count > 20)
        #expect(Set(served).subtracting(["GET /"]) == Set(shown))
    }

    @Test func `The page lists every error`() {
        for code in ErrorCode.allCases {
            #expect(APIPage.text.contains("<code>\(code.rawValue)</code> \(code.number)"))
        }
    }

    /// Returns a request without the names of its parameters, some of which differ on the page.
    private static func request(_ method: String, _ path: Substring) -> String {
        "\(method.uppercased()) \(path.replacing(#/:[a-z]+|\{[a-z_]+\}/#, with: "*"))"
    }
}
