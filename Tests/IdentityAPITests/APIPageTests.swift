import Foundation
import HTTPClient
import HTTPTypes
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

    @Test func `The page lists exactly the served requests`() {
        let shown = APIPage.text.matches(of: #/<tr><th><span class="[a-z]+">([A-Z]+)</span> <code>(/[^<]*)</code>/#)
        #expect(shown.map { "\($0.1) \($0.2)" }.sorted() == APIOperation.all.map { "\($0.method) \($0.path)" }.sorted())
    }

    @Test func `The page lists every error`() {
        for code in ErrorCode.allCases {
            #expect(APIPage.text.contains("<code>\(code.rawValue)</code> \(code.number)"))
        }
    }
}
