import Foundation
import JSON
import PostgresClient
import Synchronization
import TestSupport
import Testing

/// The file with the statements that services have prepared, which `deploy/local/test.sh` names.
private let record = ProcessInfo.processInfo.environment["HELIOGRAPH_STATEMENTS_PREPARED"]

/// Which steps of a plan count as costly.
@Suite struct StatementPlanFaultTests {
    private func faults(_ plan: JSONValue) -> [String] { StatementPlan(root: plan).faults }

    @Test func `a scan counts in a table that grows, and not in a bounded one`() {
        #expect(faults(["Node Type": "Seq Scan", "Relation Name": "sessions"]) == ["scan sessions"])
        #expect(faults(["Node Type": "Seq Scan", "Relation Name": "push_quota"]) == [])
    }

    @Test func `a sort counts when it has many rows`() {
        #expect(faults(["Node Type": "Sort", "Plan Rows": 5_000]) == ["sort"])
        #expect(faults(["Node Type": "Sort", "Plan Rows": 50]) == [])
    }

    @Test func `an index without a condition counts unless a limit ends its scan`() {
        let scan: JSONValue = ["Node Type": "Index Scan", "Relation Name": "sessions", "Index Name": "i"]
        #expect(faults(scan) == ["index scan i"])
        #expect(faults(["Node Type": "Limit", "Plans": [scan]]) == [])
        #expect(faults(["Node Type": "Limit", "Plans": [["Node Type": "Sort", "Plan Rows": 5, "Plans": [scan]]]]) == ["index scan i"])
        let looked: JSONValue = ["Node Type": "Index Scan", "Relation Name": "sessions", "Index Name": "i", "Index Cond": "(id = $1)"]
        #expect(faults(looked) == [])
    }
}

/// Whether the cost of each statement stays the same when the tables grow.
@Suite(.enabled(if: record != nil, "needs the record of `make test` or `make verify-statements`"))
struct StatementPlanTests {
    /// What tests of the audit log send because it must be refused.
    private static let refused: Set = [
        "DELETE FROM audit_log", "SELECT FROM audit_log", "SELECT FROM audit_log_default", "UPDATE audit_log SET at = now()",
    ]
    private static let golden = "Tests/Golden/statements-that-scan.txt"

    /// Run with `UPDATE_GOLDEN=1` to write the lines again that have no comment above them. One that stays needs its reason and its
    /// bound in a comment above it.
    @Test(.timeLimit(.minutes(5)))
    func `no statement of a service reads or sorts a table that grows, but for the listed ones`() async throws {
        let statements = try String(contentsOfFile: record ?? "", encoding: .utf8).split(separator: "\n").map(String.init)
        try #require(statements.count > 500)
        let found = try await withMigratedDatabase { database in
            try await GrownDatabase(database: database).fill()
            return try await Self.faults(of: statements, in: database)
        }
        let listed = try PlanExceptions(file: try PackageRoot.file(Self.golden))
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil {
            try listed.write(found)
        } else {
            #expect(found.subtracting(listed.lines).sorted() == [], "its cost grows with a table")
            #expect(listed.lines.subtracting(found).sorted() == [], "listed without need")
            #expect(listed.unexplained == [], "the reason and the bound are missing")
        }
    }

    /// Returns a line for each costly step: the step and the statement.
    private static func faults(of statements: [String], in database: TestDatabase) async throws -> Set<String> {
        let found = Mutex<Set<String>>([])
        try await withClient(of: database, maxConnections: 1) { client in
            let types = try await client.query("SELECT oid::bigint AS oid, format_type(oid, NULL) AS name FROM pg_type")
            let names = Dictionary(
                uniqueKeysWithValues: try types.map { (try $0.decode("oid", as: Int.self), try $0.decode("name", as: String.self)) })
            for line in statements {
                let parts = line.split(separator: "\t", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2 else { continue }
                let (types, sql) = (parts[0].split(separator: ",").map { Int($0) ?? 0 }, String(parts[1]))
                guard let plan = try await plan(of: sql, types.map { names[$0] ?? "unknown" }, client) else { continue }
                let faults = StatementPlan(root: plan).faults
                if !faults.isEmpty { print("\(faults): \(sql)\n\(plan.text)") }
                for fault in faults { found.withLock { _ = $0.insert("\(fault): \(sql.prefix(160))") } }
            }
        }
        return found.withLock { $0 }
    }

    /// Returns the plan that the server keeps to: for parameters of any value, or of certain values where that is cheaper; nil for a
    /// statement that has none. A limit that is a parameter counts as a tenth of all rows in the former.
    private static func plan(of sql: String, _ types: [String], _ client: PostgresClient) async throws -> JSONValue? {
        let first = sql.prefix { $0.isLetter }.uppercased()
        // The test of the roles names the schema of each table, which no statement of a service does.
        guard ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH"].contains(first), !sql.contains(" public."),
            !refused.contains(sql)
        else { return nil }
        let declared = types.isEmpty ? "" : "(\(types.joined(separator: ", ")))"
        do {
            try await client.execute(PostgresQuery(unescaped: "PREPARE observed \(declared) AS \(sql)"))
        } catch {
            // One that a test sends because it must fail.
            print("no plan of \(sql.prefix(120)): \(error)")
            return nil
        }
        let values = types.isEmpty ? "" : "(\(types.map(value).joined(separator: ", ")))"
        var plans: [JSONValue] = []
        for mode in ["force_generic_plan", "force_custom_plan"] {
            try await client.execute(PostgresQuery(unescaped: "SET plan_cache_mode = \(mode)"))
            // The planner computes with certain values, and refuses a text that should be JSON, for instance.
            guard let rows = try? await client.query(PostgresQuery(unescaped: "EXPLAIN (FORMAT JSON) EXECUTE observed \(values)"))
            else { continue }
            let text = Array(try rows[0].decode("QUERY PLAN", as: String.self).utf8)
            let plan = try JSONValue(parsing: text, limits: JSONLimits(maxDepth: 200)).elements?.first?["Plan"]
            plans += plan.map { [$0] } ?? []
        }
        try await client.execute("DEALLOCATE observed")
        return plans.min { ($0["Total Cost"]?.double ?? 0) < ($1["Total Cost"]?.double ?? 0) }
    }

    /// A value of a type, for a plan of a certain value.
    private static func value(_ type: String) -> String {
        if type.hasSuffix("[]") { return "ARRAY[\(value(String(type.dropLast(2))))]" }
        return switch type {
        case "uuid": "'5d3f1c1e-0000-4000-8000-000000000001'::uuid"
        case "bytea": "'\\x01'::bytea"
        case "boolean": "true"
        case "smallint", "integer", "bigint": "10::\(type)"
        // Most are seconds of retentions.
        case "double precision": "2592000::float8"
        case "timestamp with time zone": "now()"
        case "xid8": "'100'::xid8"
        default: "'a'::\(type == "unknown" ? "text" : type)"
        }
    }
}
