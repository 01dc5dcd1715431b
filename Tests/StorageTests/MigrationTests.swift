import Foundation
import PostgresClient
import Schema
import TestSupport
import Testing

struct MigrationTests {
    @Test func `numbers are consecutive from 1, and names are unique`() {
        let migrations = HeliographSchema.migrations
        #expect(migrations.map(\.number) == Array(1...migrations.count))
        #expect(Set(migrations.map(\.name)).count == migrations.count)
    }

    @Test func `migrating up, down and up again gives the same schema, and an empty one in between`() async throws {
        try await withEmptyDatabase { database in
            try await withClient(of: database) { client in
                let runner = try MigrationRunner(client: client, migrations: HeliographSchema.migrations)
                _ = try await runner.migrate()
                let first = try await schemaListing(of: client)
                try await runner.rollback(to: 0)
                #expect(try await schemaListing(of: client) == "")
                _ = try await runner.migrate()
                #expect(try await schemaListing(of: client) == first)
            }
        }
    }

    @Test func `each step down undoes its own step up exactly`() async throws {
        try await withEmptyDatabase { database in
            try await withClient(of: database) { client in
                let runner = try MigrationRunner(client: client, migrations: HeliographSchema.migrations)
                for migration in HeliographSchema.migrations {
                    let before = try await schemaListing(of: client)
                    _ = try await runner.migrate(to: migration.number)
                    let after = try await schemaListing(of: client)
                    #expect(after != before, "\(migration.name) changes nothing")
                    try await runner.rollback(to: migration.number - 1)
                    #expect(try await schemaListing(of: client) == before, "\(migration.name) leaves something behind")
                    _ = try await runner.migrate(to: migration.number)
                }
            }
        }
    }

    /// Run with `UPDATE_GOLDEN=1` to write the file again, and read the difference before you commit it.
    @Test(.storage) func `the schema matches the golden file`() async throws {
        let listing = try await schemaListing(of: client)
        let golden = URL(fileURLWithPath: PackageRoot.path + "/Tests/Golden/schema.txt")
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil {
            try listing.write(to: golden, atomically: true, encoding: .utf8)
        }
        let expected = try String(contentsOf: golden, encoding: .utf8)
        let changed = Set(listing.split(separator: "\n")).symmetricDifference(expected.split(separator: "\n"))
        #expect(changed.isEmpty, "lines that are in only one of schema and Tests/Golden/schema.txt")
    }

    @Test(.storage) func `every foreign key has an index, and every table a comment`() async throws {
        let unindexed = try await client.query(
            """
            SELECT c.conrelid::regclass::text AS name FROM pg_constraint c
            WHERE c.contype = 'f' AND NOT EXISTS (
                SELECT FROM pg_index i WHERE i.indrelid = c.conrelid AND i.indkey[0] = c.conkey[1])
            """)
        #expect(unindexed.isEmpty, "foreign keys without an index")
        let undocumented = try await client.query(
            """
            SELECT relname::text AS name FROM pg_class
            WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace AND relname <> 'schema_migrations'
              AND obj_description(oid, 'pg_class') IS NULL
            """)
        #expect(undocumented.isEmpty, "tables without a comment")
    }
}

/// Lists all objects of the schema, one per line, in a stable order, without the audit log's partitions, which depend on the date.
private func schemaListing(of client: PostgresClient) async throws -> String {
    let rows = try await client.query(
        """
        SELECT line FROM (
            SELECT relname::text AS parent, 0 AS rank, format('table %s %s', relname, coalesce(reloptions::text, '')) AS line
            FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace
            UNION ALL
            SELECT c.relname::text, 1, format('column %s.%s %s%s%s%s', c.relname, a.attname,
                       format_type(a.atttypid, a.atttypmod), CASE WHEN a.attnotnull THEN ' not null' ELSE '' END,
                       coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), ''),
                       CASE a.attidentity WHEN 'a' THEN ' identity' ELSE '' END)
            FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid AND c.relkind IN ('r', 'p')
            LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
            WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relnamespace = 'public'::regnamespace
            UNION ALL
            SELECT c.relname::text, 2, format('constraint %s on %s %s', n.conname, c.relname, pg_get_constraintdef(n.oid))
            FROM pg_constraint n JOIN pg_class c ON c.oid = n.conrelid
            WHERE n.connamespace = 'public'::regnamespace
            UNION ALL
            SELECT viewname::text, 0, format('view %s %s', viewname, regexp_replace(definition, '\\s+', ' ', 'g'))
            FROM pg_views WHERE schemaname = 'public'
            UNION ALL
            SELECT tablename::text, 3, 'index ' || indexdef FROM pg_indexes WHERE schemaname = 'public'
            UNION ALL
            SELECT c.relname::text, 4, 'trigger ' || pg_get_triggerdef(t.oid)
            FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE NOT t.tgisinternal
            UNION ALL
            SELECT p.proname::text, 5, 'function ' || regexp_replace(pg_get_functiondef(p.oid), '\\s+', ' ', 'g')
            FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace
        ) objects
        WHERE parent <> 'schema_migrations' AND parent !~ '^audit_log_[0-9]'
        ORDER BY parent COLLATE "C", rank, line COLLATE "C"
        """)
    return try rows.map { try $0.decode("line", as: String.self) + "\n" }.joined()
}
