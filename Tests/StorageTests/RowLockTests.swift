import Accounts
import PostgresClient
import Schema
import TestSupport
import Testing

/// `SELECT … FOR UPDATE`, and every weaker lock of rows, needs the privilege UPDATE on the table.
struct RowLockTests {
    @Test func `a role may update each table whose rows its service locks`() async throws {
        let statements = try CalledStatements()
        var names: Set<String> = []
        try await withStorage { client in
            let tables = try await client.query("SELECT relname::text AS name FROM pg_class WHERE relkind IN ('r', 'p')")
            names = Set(try tables.column("name", as: String.self))
        }
        let locks = statements.texts.mapValues { texts in
            texts.reduce(into: Set<String>()) { $0.formUnion(Self.lockedTables($1.member, $1.file, of: names)) }
        }
        #expect(locks.values.count { !$0.isEmpty } > 50)
        let cleanUp = locks.first { $0.key.type == "FaceDuplicateRepository" && $0.key.name == "deleteWithoutFace" }
        #expect(cleanUp?.value == ["face_duplicates"])
        var missing: [String] = []
        for role in ServiceRole.allCases {
            for member in try statements.reached(by: role) {
                for table in locks[member] ?? [] where !role.mayLock(table) { missing.append("\(role.rawValue): \(member) locks \(table)") }
            }
        }
        #expect(missing.sorted() == [])
    }

    /// Returns the tables whose rows a text locks: those of the SELECT before each lock, or else all that the text names, or else all
    /// that its file names.
    private static func lockedTables(_ text: String, _ file: String, of names: Set<String>) -> Set<String> {
        var found: Set<String> = []
        for strength in ["FOR UPDATE", "FOR NO KEY UPDATE", "FOR SHARE", "FOR KEY SHARE"] {
            let parts = text.split(separator: strength, omittingEmptySubsequences: false)
            for (index, after) in parts.enumerated().dropFirst() {
                let select = select(at: parts[..<index].joined(separator: strength))
                var tables = sources(of: select).filter { names.contains($0.table) }
                if after.hasPrefix(" OF ") {
                    let aliases = after.dropFirst(4).split { $0 == "," || $0 == " " || $0 == ")" || $0 == "\n" || $0 == "\"" }.prefix(2)
                    tables = tables.filter { aliases.contains(Substring($0.alias)) || aliases.contains(Substring($0.table)) }
                }
                let named = names.intersection(SourceTokens(text).all)
                found.formUnion(
                    !tables.isEmpty ? Set(tables.map(\.table)) : !named.isEmpty ? named : names.intersection(SourceTokens(file).all))
            }
        }
        return found
    }

    /// Returns the end of a text from its last SELECT on, without what is in parentheses within, and not beyond the one it is in.
    private static func select(at text: String) -> String {
        var (depth, end): (Int, [Character]) = (0, [])
        for character in text.reversed() {
            if character == ")" { depth += 1 }
            if character == "(" { depth -= 1 }
            if depth < 0 { break }
            if depth == 0 { end.append(character) }
        }
        return String(end.reversed()).split(separator: "SELECT").last.map(String.init) ?? ""
    }

    /// Returns the tables, and their aliases, after FROM and JOIN.
    private static func sources(of select: String) -> [(table: String, alias: String)] {
        let words = select.split { $0 == " " || $0 == "\n" || $0 == "," }.map(String.init)
        return words.indices.dropLast().filter { words[$0] == "FROM" || words[$0] == "JOIN" }.map { index in
            (words[index + 1], index + 2 < words.count ? words[index + 2] : "")
        }
    }
}

extension ServiceRole {
    /// Whether the role has UPDATE on a table, or on a column of it, as a lock of rows needs it.
    fileprivate func mayLock(_ table: String) -> Bool {
        grants.contains { $0.table == table && $0.privileges.contains { $0.statement == .update } }
    }
}
