import Foundation
import TestSupport

extension PersonSearch {
    /// Searches a dump of the database, in which bytes are hexadecimal digits.
    func inTables() async throws -> Set<Finding> {
        var found: Set<Finding> = []
        for (table, rows) in try await DatabaseDump.of(stack.database).tables {
            found.formUnion(findings(in: rows, at: "table \(table)"))
        }
        return found
    }
}

/// The rows of a database as `pg_dump` writes them, by table.
struct DatabaseDump: Sendable {
    /// The lines of each table that has rows; what belongs to none, such as comments and functions, is under `schema`.
    let tables: [String: String]

    static func of(_ database: TestDatabase) async throws -> DatabaseDump { DatabaseDump(try await database.dump()) }

    private init(_ dump: String) {
        var tables: [String: [Substring]] = [:]
        var table: String?
        for line in dump.split(separator: "\n") {
            if table != nil, line == #"\."# {
                table = nil
            } else if table == nil, let name = line.prefixMatch(of: #/COPY public\.(\w+) /#)?.1 {
                table = String(name)
            } else {
                tables[table ?? "schema", default: []].append(line)
            }
        }
        self.tables = tables.mapValues { $0.joined(separator: "\n") }
    }

    /// Returns the number of rows of each table that contain a text.
    func rows(containing text: String) -> [String: Int] {
        tables.mapValues { rows in rows.split(separator: "\n").count { $0.contains(text) } }.filter { $0.value > 0 }
    }
}
