import Foundation
import Schema
import TestSupport
import Testing

/// The file with the statements that ran, which `deploy/local/test.sh` names.
private let record = ProcessInfo.processInfo.environment["HELIOGRAPH_STATEMENTS_RECORDED"]

/// Whether each statement that a service can reach ran in a test as the role of the service.
@Suite(.enabled(if: record != nil, "needs the record of `make test` or `make verify-statements`"))
struct StatementCoverageTests {
    private typealias Member = CalledStatements.Member

    private static let golden = "Tests/Golden/statements-not-reached.txt"

    /// Run with `UPDATE_GOLDEN=1` to write the lines below the comment again. One that stays is of a statement that the service does not
    /// send: give the reason in the comment.
    @Test func `each statement that a service reaches ran as its role, but for those that are listed`() throws {
        let (statements, ran) = (try CalledStatements(), try Self.recorded())
        var missing: Set<String> = []
        for role in ServiceRole.allCases {
            let (patterns, recorded) = (try Self.patterns(of: role, in: statements), ran[role] ?? [])
            for (member, pattern) in patterns where !recorded.contains(where: pattern.matches) {
                missing.insert("\(role.rawValue) \(member)")
                print("\(role.rawValue) did not run \(member): \(pattern)")
            }
            let members = Set(patterns.map(\.member)).count
            print("\(role.rawValue): \(patterns.count) statements and parts of \(members) members; \(recorded.count) statements ran")
            #expect(patterns.count > 40 && recorded.count > 100, "\(role.rawValue)")
        }
        let file = try PackageRoot.file(Self.golden)
        let listed = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map(String.init)
        let comment = listed.prefix { $0.hasPrefix("#") }
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil {
            try ((comment + missing.sorted()).joined(separator: "\n") + "\n").write(toFile: file, atomically: true, encoding: .utf8)
        } else {
            let known = Set(listed.dropFirst(comment.count))
            #expect(missing.subtracting(known) == [], "a test has to run it as the role")
            #expect(known.subtracting(missing) == [], "listed without need")
        }
    }

    /// What a test sends as a role shows what the sources do not: a call that ``CalledStatements`` has not found.
    @Test func `each statement of a repository that ran as a role is one that its service reaches`() throws {
        let (statements, ran) = (try CalledStatements(), try Self.recorded())
        let all = statements.texts.flatMap { member, texts in
            texts.flatMap { SQLLiterals.patterns(in: $0.member, parts: true) }.filter(\.isWhole).map { (member, $0) }
        }
        var unexpected: Set<String> = []
        for role in ServiceRole.allCases {
            let reached = try Self.patterns(of: role, in: statements)
            for statement in ran[role] ?? [] {
                let senders = all.filter { $0.1.matches(statement) }.map(\.0)
                if senders.isEmpty || reached.contains(where: { $0.pattern.isWhole && $0.pattern.matches(statement) }) { continue }
                unexpected.insert("\(role.rawValue) \(senders[0]): \(statement)")
            }
        }
        #expect(unexpected.sorted() == [])
    }

    /// Returns the statements that a service can reach, and the parts of statements, with the members that they are in.
    private static func patterns(
        of role: ServiceRole, in statements: CalledStatements
    ) throws -> [(member: Member, pattern: StatementPattern)] {
        let reached = try statements.reached(by: role)
        let own = try statements.sources(of: role).filter { !reached.contains($0.member) }
        return own.flatMap { member, text in SQLLiterals.patterns(in: text, parts: false).map { (member, $0) } }
            + reached.flatMap { member in
                (statements.texts[member] ?? []).flatMap { SQLLiterals.patterns(in: $0.member, parts: true) }.map { (member, $0) }
            }
    }

    /// Returns the statements that ran as the role of each service, whatever the prefix of its name.
    private static func recorded() throws -> [ServiceRole: Set<String>] {
        let text = try String(contentsOfFile: record ?? "", encoding: .utf8)
        return text.split(separator: "\n").reduce(into: [:]) { found, line in
            let parts = line.split(separator: "\t", maxSplits: 1)
            guard parts.count == 2, let role = ServiceRole.allCases.first(where: { parts[0].hasSuffix($0.name(prefix: "")) }) else {
                return
            }
            // COPY writes a backslash twice.
            let sql = parts[1].replacingOccurrences(of: "\\\\", with: "\\")
            found[role, default: []].insert(SQLText.normalised(Array(sql.utf8)))
        }
    }
}
