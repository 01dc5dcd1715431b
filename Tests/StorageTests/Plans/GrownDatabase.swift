import Foundation
import PostgresClient
import TestSupport

/// Fills every table as it is in a large installation, so that the planner decides as it does there.
///
/// Rows are made by the types of columns, without the constraints that relate them: the planner looks at sizes and frequencies alone. A
/// column whose frequencies matter has an expression in ``expressions``.
struct GrownDatabase {
    /// The tables that do not grow with people or time, each with what bounds it.
    static let bounded: [String: String] = [
        "schema_migrations": "one row a migration", "image_templates": "the operator's styles", "push_quota": "one row a lane",
        "push_guard": "one row", "face_indexes": "one row a worker", "face_reindexes": "one row a change of the network",
        "sealed_value_counts": "one row a column", "image_costs": "one row a kind of work", "service_credentials": "the operator's keys",
        "wrong_codes": "the failures of an hour, which are limited", "image_calls": "one row a provider and day",
        "push_outcomes": "one row an outcome and hour", "topic_fan_outs": "the pushes to topics that are being addressed",
        "topic_photo_windows": "the photos of ten seconds",
    ]
    /// The rows of a table that grows: enough that a scan costs many times what a look-up costs.
    static let rows = 50_000
    private static let boundedRows = 20

    /// The values of columns by the number `n` of the row, where those made by the type would mislead the planner.
    private static let expressions: [String: String] = [
        // Those of ten minutes.
        "sessions.photos_kept_until": "CASE WHEN n % 1000 = 0 THEN now() + interval '5 minutes' END",
        "sessions.state": "CASE WHEN n % 1000 = 0 THEN 'received' WHEN n % 2 = 0 THEN 'succeeded' ELSE 'failed' END",
        "sessions.photos": "CASE WHEN n % 1000 = 0 THEN '[{}]'::jsonb ELSE '[]' END",
        // Nearly all rows of a queue are done.
        "outbox.state": "CASE WHEN n % 1000 = 0 THEN 'waiting' WHEN n % 1000 = 1 THEN 'published' ELSE 'confirmed' END",
        "notifications.state": "CASE WHEN n % 1000 = 0 THEN 'requested' ELSE 'settled' END",
        "image_jobs.status": "CASE WHEN n % 1000 = 0 THEN 'pending' ELSE 'completed' END",
        "image_jobs.awaits_turn": "n % 5000 = 0",
        "app_notifications.state": "CASE WHEN n % 1000 = 0 THEN 'scheduled' ELSE 'sent' END",
        "reports.state": "CASE WHEN n % 1000 = 0 THEN 'open' ELSE 'closed' END",
        "erasures.completed_at": "CASE WHEN n % 1000 > 0 THEN now() - n * interval '50 minutes' END",
    ]

    let database: TestDatabase

    private struct Column {
        let table: String
        let name: String
        let type: String
        let isNullable: Bool
        /// The values that a check allows; the last one is that of nearly all rows.
        let values: [String]
    }

    func fill() async throws {
        let columns = try await columns()
        try await dropChecks()
        var script = "SET session_replication_role = replica;\n"
        for (table, columns) in Dictionary(grouping: columns, by: \.table).sorted(by: { $0.key < $1.key }) {
            let names = columns.map { "\"\($0.name)\"" }.joined(separator: ", ")
            let values = columns.map(Self.expression).joined(separator: ", ")
            let count = Self.bounded[table] == nil ? Self.rows : Self.boundedRows
            script += "INSERT INTO \(table) (\(names)) SELECT \(values) FROM generate_series(1, \(count)) n ON CONFLICT DO NOTHING;\n"
        }
        try await database.psql(script)
        // A sweep of dead rows is not the subject; the visibility map decides whether an index alone is enough.
        try await database.psql("VACUUM ANALYZE")
    }

    private func dropChecks() async throws {
        try await database.psql(
            """
            DO $$ DECLARE c record; BEGIN
                FOR c IN SELECT conrelid::regclass AS t, conname FROM pg_constraint
                         WHERE contype IN ('c', 'f') AND connamespace = 'public'::regnamespace AND conparentid = 0 AND conislocal
                LOOP EXECUTE format('ALTER TABLE %s DROP CONSTRAINT IF EXISTS %I CASCADE', c.t, c.conname); END LOOP;
            END $$
            """)
    }

    /// The columns of all tables, with the values of their checks. Read before the checks are dropped.
    private func columns() async throws -> [Column] {
        let text = try await database.psql(
            """
            SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), NOT a.attnotnull,
                coalesce((SELECT string_agg(m[1], ',') FROM pg_constraint k, regexp_matches(
                              pg_get_constraintdef(k.oid), '''([a-z0-9_]+)''::text', 'g') m
                          WHERE k.conrelid = c.oid AND k.contype = 'c' AND k.conkey = ARRAY[a.attnum]), '')
            FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
            WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND a.attidentity <> 'a'
            ORDER BY c.relname, a.attnum
            """)
        return text.split(separator: "\n").map { line in
            let fields = line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
            return Column(
                table: fields[0], name: fields[1], type: fields[2], isNullable: fields[3] == "t",
                values: fields[4].split(separator: ",").map(String.init))
        }
    }

    private static func expression(_ column: Column) -> String {
        if let own = expressions["\(column.table).\(column.name)"] { return own }
        if column.type == "text", let usual = column.values.last {
            let values = column.values.map { "'\($0)'" }.joined(separator: ", ")
            return "CASE WHEN n % 500 = 0 THEN (ARRAY[\(values)])[1 + (n / 500) % \(column.values.count)] ELSE '\(usual)' END"
        }
        let value = value(column)
        return column.isNullable ? "CASE WHEN n % 2 = 0 THEN \(value) END" : value
    }

    /// A value that nearly each row has for itself, as ids, hashes and times have.
    private static func value(_ column: Column) -> String {
        switch column.type {
        case "uuid": "gen_random_uuid()"
        case "bytea": "decode(md5(n::text || '\(column.name)') || md5(n::text), 'hex')"
        case "timestamp with time zone": time(column.name)
        case "date": "current_date - (n % 700)"
        case "boolean": "n % 1000 = 0"
        case "smallint": "n % 10"
        case "integer", "bigint": "n"
        case "xid8": "'1'::xid8"
        case "double precision", "real", "numeric": "random()"
        case "interval": "interval '1 minute'"
        case "jsonb", "json": "'{}'"
        case "bit(1024)": "('x' || repeat(md5(n::text), 8))::bit(1024)"
        case let type where type.hasPrefix("bit varying"): "B'1'"
        case let type where type.hasSuffix("[]"): "ARRAY[]::\(type)"
        default: "md5(n::text)"
        }
    }

    /// A time of the last day or, for the end of something, of the next one; for one row in a thousand a time that is long past, as of a
    /// row that is to be deleted.
    private static func time(_ column: String) -> String {
        let ends = ["expires", "until", "due", "deadline", "next", "locked", "ends", "not_before", "unregister", "wait"]
        let sign = ends.contains(where: column.contains) ? "+" : "-"
        return "now() \(sign) CASE WHEN n % 1000 = 0 THEN interval '\(sign == "+" ? "-" : "")2 years' ELSE n * interval '1.5 seconds' END"
    }
}
