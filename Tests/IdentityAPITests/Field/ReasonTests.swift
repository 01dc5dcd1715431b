import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

/// The tables of docs/api that say what to do about a reason. Run with `UPDATE_GOLDEN=1` to write them again.
@Suite struct ReasonTests {
    private static func table(_ name: String, _ rows: [(String, String)]) -> String {
        "| \(name) | what to do |\n|---|---|\n" + rows.map { "| `\($0)` | \($1) |\n" }.joined()
    }

    @Test func `the page says of each reason of a session what the person should do`() throws {
        let rows = SessionReason.allCases.map { ($0.rawValue, $0.remedy) }
        #expect(try GeneratedSection("Reasons of a session", of: "docs/api/errors.md").holds(Self.table("reason", rows)))
    }

    @Test func `the page says of each problem of a photo what the person should do`() throws {
        let rows = PhotoProblem.allCases.map { ($0.rawValue, $0.remedy) }
        #expect(try GeneratedSection("Problems of a photo", of: "docs/api/sessions.md").holds(Self.table("problem", rows)))
    }

    @Test func `the page says of each failure of a picture what the person should do`() throws {
        let rows = ImageFailureCode.known.map { ($0.rawValue, $0.remedy) }
        #expect(try GeneratedSection("Failures of a picture", of: "docs/api/errors.md").holds(Self.table("`error.code`", rows)))
    }

    @Test func `the page says of each error what to do`() throws {
        let rows = ErrorCode.allCases.map { ($0.rawValue, $0.remedy) }
        #expect(try GeneratedSection("What to do about an error", of: "docs/api/errors.md").holds(Self.table("error", rows)))
    }
}
