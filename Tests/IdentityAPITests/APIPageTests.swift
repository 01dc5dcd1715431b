import Foundation
import HTTPClient
import HTTPTypes
import Storage
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

    @Test func `The page says of each request which bearer it needs, with the scope of a key, and what a repetition gets`() throws {
        for operation in APIOperation.all {
            let row = try #require(
                APIPage.text.split(separator: "<tr>").first { $0.contains(">\(operation.method)</span> <code>\(operation.path)</code>") })
            for bearer in operation.bearers {
                let isKey = if case .key = bearer { true } else { false }
                let name = isKey ? bearer.title.replacing("(`", with: "(<code>").replacing("`)", with: "</code>)") : bearer.title
                #expect(row.contains(name.replacing("`", with: "")), "\(operation.id)")
            }
            if operation.bearers.isEmpty { #expect(row.contains(#"<td data-label="Bearer">none</td>"#), "\(operation.id)") }
            #expect(row.contains(#"<td data-label="Repeated">"#), "\(operation.id)")
            if operation.parameters.contains(where: { $0.name == "Idempotency-Key" }) {
                #expect(row.contains(#"<td data-label="Repeated"><code>Idempotency-Key</code>, "#), "\(operation.id)")
            } else if operation.method == .post {
                #expect(operation.repetition != nil, "\(operation.id) does not say whether it may be repeated")
            }
        }
        for scope in ServiceScope.allCases { #expect(APIPage.text.contains("<code>\(scope.rawValue)</code>")) }
    }

    @Test func `The page lists every error`() {
        for code in ErrorCode.allCases {
            #expect(APIPage.text.contains("<code>\(code.rawValue)</code> \(code.number)"))
        }
    }

    /// Run with `UPDATE_GOLDEN=1` to write the section again.
    @Test func `the documentation lists every error by its status`() throws {
        var lines = ["| status | codes |", "|---|---|"]
        for (status, codes) in Dictionary(grouping: ErrorCode.allCases, by: \.status.code).sorted(by: { $0.key < $1.key }) {
            let names = codes.sorted { $0.number < $1.number }.map { "`\($0.rawValue)` \($0.number)" }
            lines.append("| \(status) | \(names.joined(separator: ", ")) |")
        }
        let section = lines.map { $0 + "\n" }.joined()
        #expect(try GeneratedSection("Error codes", of: "docs/API.md").holds(section))
    }
}
