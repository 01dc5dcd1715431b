import Foundation
import Testing

/// Holds the tables of `docs/MOBILE.md` to the client and its tests.
@Suite struct MobileRequirementTests {
    /// A row of the table of requirements.
    struct Requirement: Sendable, CustomTestStringConvertible {
        let source: String
        let text: String
        let types: [(name: String, file: String)]
        /// The titles of the tests that show it.
        let tests: [String]

        var testDescription: String { "\(source): \(text)" }
    }

    private static let document = Checkout.file(at: "docs/MOBILE.md")

    static let requirements: [Requirement] = (document?.lines ?? []).compactMap { line in
        let columns = line.split(separator: "|", omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: .whitespaces) }
        guard columns.count == 6, columns[1].prefixMatch(of: /(?:[A-E]|§\d|DESIGN)(?:$|,| |–)/) != nil else { return nil }
        return Requirement(
            source: columns[1], text: columns[2],
            types: columns[3].matches(of: /`([A-Za-z.]+)` \(`([^`]+)`\)/).map { (String($0.output.1), String($0.output.2)) },
            tests: columns[4].matches(of: /\*([^*]+)\*/).map { String($0.output.1) })
    }

    private static let tests = Checkout.swift.filter { $0.path.hasPrefix("Tests/MobileClientTests/") }
    private static let titles = Set(tests.flatMap { $0.text.matches(of: /func `([^`\n]+)`/).map { String($0.output.1) } })
    private static let suites = Set(tests.flatMap { $0.text.matches(of: /struct (\w+Tests)\b/).map { String($0.output.1) } })

    @Test func `each source has requirements`() {
        #expect(Self.requirements.count >= 60)
        for source in ["A", "B", "C", "D", "E", "§2", "§3", "§7", "§8", "DESIGN"] {
            #expect(Self.requirements.contains { $0.source.contains(source) }, "\(source)")
        }
    }

    @Test(arguments: requirements) func `a requirement has tests that exist`(requirement: Requirement) {
        #expect(!requirement.tests.isEmpty)
        for title in requirement.tests { #expect(Self.titles.contains(title), "no test is called: \(title)") }
    }

    @Test(arguments: requirements) func `a requirement has types that their files declare`(requirement: Requirement) throws {
        #expect(!requirement.types.isEmpty)
        for (name, file) in requirement.types {
            let text = try #require(Checkout.file(at: "Shared/MobileClient/\(file)"), "\(file)").text
            let last = String(name.split(separator: ".").last ?? "")
            let words = ["struct", "class", "actor", "enum", "protocol", "typealias", "var", "func"]
            #expect(words.contains { Self.declares("\($0) \(last)", text) }, "\(file) does not declare \(name)")
        }
    }

    /// Whether a text has a declaration and not only the beginning of its name.
    private static func declares(_ words: String, _ text: String) -> Bool {
        text.ranges(of: words).contains { range in
            guard range.upperBound < text.endIndex else { return true }
            let next = text[range.upperBound]
            return !next.isLetter && !next.isNumber && next != "_"
        }
    }

    @Test func `each suite with a model is in the table of models, and each that is in the table exists`() throws {
        let lines = try #require(Self.document).lines.filter { $0.hasPrefix("| `") }
        let named = Set(lines.flatMap { $0.split(separator: "|")[0].matches(of: /`(\w+Tests)`/).map { String($0.output.1) } })
        #expect(named.isSubset(of: Self.suites), "\(named.subtracting(Self.suites))")
        let checking = Self.tests.filter { $0.text.contains("expectHolds(") && $0.path.hasSuffix("Tests.swift") }
        #expect(checking.count > 8)
        for file in checking {
            #expect(named.contains { file.text.contains("struct \($0)") }, "\(file.path)")
        }
    }
}
