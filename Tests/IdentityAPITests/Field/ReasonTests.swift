import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

@Suite struct ReasonTests {
    /// Run with `UPDATE_GOLDEN=1` to write the section again.
    @Test func `the page says of each reason what the person should do`() throws {
        let rows = SessionReason.allCases.map { "| `\($0.rawValue)` | \($0.remedy) |" }.joined(separator: "\n")
        #expect(try GeneratedSection("Reasons of a session", of: "docs/API.md").holds("| reason | what to do |\n|---|---|\n\(rows)\n"))
    }
}
