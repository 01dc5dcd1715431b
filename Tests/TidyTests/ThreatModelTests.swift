import Foundation
import Testing

/// Holds the table of `docs/THREAT-MODEL.md` to the code and the tests.
@Suite struct ThreatModelTests {
    /// A row of the table.
    struct Threat: Sendable, CustomTestStringConvertible {
        let name: String
        let kind: String
        /// The files and folders that answer it.
        let paths: [String]
        /// The titles of the tests that show it.
        let tests: [String]

        var testDescription: String { name }
    }

    private static let document = Checkout.file(at: "docs/THREAT-MODEL.md")

    static let threats: [Threat] = (document?.lines ?? []).compactMap { line in
        let columns = line.split(separator: "|", omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: .whitespaces) }
        guard columns.count == 7, columns[1].wholeMatch(of: /T\d+/) != nil else { return nil }
        return Threat(
            name: columns[1], kind: columns[2],
            paths: columns[4].matches(of: /`((?:Services|Shared|Tools)\/[^`]+)`/).map { String($0.output.1) },
            tests: columns[5].matches(of: /\*([^*]+)\*/).map { String($0.output.1) })
    }

    /// The titles of all tests.
    private static let titles = Set(
        Checkout.swift.filter { $0.path.hasPrefix("Tests/") }
            .flatMap { $0.text.matches(of: /func `([^`\n]+)`/).map { String($0.output.1) } })

    @Test func `threats are numbered without gaps`() {
        #expect(Self.threats.count >= 40)
        #expect(Self.threats.map(\.name) == (1...Self.threats.count).map { "T\($0)" })
    }

    @Test(arguments: threats) func `a threat has a kind, and tests that exist`(threat: Threat) {
        #expect(["S", "T", "R", "I", "D", "E"].contains(threat.kind))
        #expect(!threat.tests.isEmpty)
        for title in threat.tests { #expect(Self.titles.contains(title), "no test is called: \(title)") }
    }

    @Test(arguments: threats) func `the code that answers a threat exists`(threat: Threat) {
        for path in threat.paths { #expect(FileManager.default.fileExists(atPath: "\(Checkout.root)/\(path)"), "\(path)") }
    }

    @Test func `every kind of threat is in the table, and most name the code that answers them`() {
        #expect(Set(Self.threats.map(\.kind)).count == 6)
        #expect(Self.threats.count { !$0.paths.isEmpty } > Self.threats.count * 9 / 10)
    }
}
