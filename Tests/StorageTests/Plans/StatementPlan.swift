import JSON

/// The plan of a statement, and its steps whose cost grows with a table.
struct StatementPlan {
    /// The rows from which on a sort is one of a table that grows.
    private static let sortedRows = 2_000.0

    /// The root of the plan, as `EXPLAIN (FORMAT JSON)` returns it.
    let root: JSONValue

    /// The costly steps: `scan TABLE`, `index scan INDEX` where the whole index is read, and `sort` of many rows.
    var faults: [String] { Set(faults(of: root, isLimited: false)).sorted() }

    private func faults(of node: JSONValue, isLimited: Bool) -> [String] {
        let type = node["Node Type"]?.string ?? ""
        let children = node["Plans"]?.elements ?? []
        // A limit ends the steps below it that return their rows one by one.
        let limits = type == "Limit" || (isLimited && !["Sort", "Hash", "Aggregate", "Materialize"].contains(type))
        return own(node, type, isLimited) + children.flatMap { faults(of: $0, isLimited: limits) }
    }

    private func own(_ node: JSONValue, _ type: String, _ isLimited: Bool) -> [String] {
        let table = Self.table(node["Relation Name"]?.string ?? "")
        switch type {
        case "Seq Scan" where GrownDatabase.bounded[table] == nil && !table.isEmpty && !table.hasPrefix("pg_"): return ["scan \(table)"]
        case "Index Scan", "Index Only Scan":
            guard node["Index Cond"] == nil, node["Order By"] == nil, !isLimited || node["Filter"] != nil else { return [] }
            return GrownDatabase.bounded[table] == nil ? ["index scan \(node["Index Name"]?.string ?? table)"] : []
        case "Sort" where (node["Plan Rows"]?.double ?? 0) >= Self.sortedRows: return ["sort"]
        default: return []
        }
    }

    /// The table of a partition.
    private static func table(_ name: String) -> String { name.hasPrefix("audit_log") ? "audit_log" : name }
}
