import PostgresClient
import TestSupport
import Testing

@testable import Schema

/// What the role of each service can do with every column of every table: each statement is sent to a real server as that role.
struct TableAccessTests {
    /// A table or a view, with its columns.
    private struct Table {
        let name: String
        let columns: [String]
    }

    private func tables(of client: PostgresClient) async throws -> [Table] {
        let rows = try await client.query(
            """
            SELECT c.relname::text AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns
            FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
            WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f') GROUP BY c.oid ORDER BY 1
            """)
        return try rows.map { Table(name: try $0.decode("name", as: String.self), columns: try $0.decode("columns", as: [String].self)) }
    }

    @Test(arguments: ServiceRole.allCases)
    func `a service reads and changes what is listed of each table, and is refused all else`(role: ServiceRole) async throws {
        try await withServiceRoles { database, prefix in
            var tables: [Table] = []
            try await withClient(of: database) { tables = try await self.tables(of: $0) }
            #expect(tables.count > 40)
            var (wrong, refused): ([String], Int) = ([], 0)
            try await withClient(of: database, as: role, prefix: prefix) { client in
                for table in tables {
                    let name = "public.\(table.name)"
                    var attempts: [(sql: String, isListed: Bool)] = [
                        ("INSERT INTO \(name) DEFAULT VALUES", role.may(.insert, table.name)),
                        ("DELETE FROM \(name)", role.may(.delete, table.name)),
                        ("SELECT FROM \(name)", table.columns.contains { role.may(.select, table.name, $0) }), ("TRUNCATE \(name)", false),
                    ]
                    for column in table.columns {
                        attempts.append((#"SELECT "\#(column)" FROM \#(name)"#, role.may(.select, table.name, column)))
                        attempts.append((#"UPDATE \#(name) SET "\#(column)" = DEFAULT"#, role.may(.update, table.name, column)))
                    }
                    for attempt in attempts {
                        let isRefused = try await client.refuses(attempt.sql)
                        if isRefused == attempt.isListed { wrong.append("\(attempt.sql) is refused: \(isRefused)") }
                        if isRefused { refused += 1 }
                    }
                }
            }
            #expect(wrong == [])
            #expect(refused > 250)
        }
    }

    /// A table that is a service's own has no reason, so that `docs/ARCHITECTURE.md` does not list it.
    @Test func `a table is one service's own, but for three that two services share for pushes`() {
        var owners: [String: [ServiceRole]] = [:]
        for role in ServiceRole.allCases {
            for grant in role.grants where grant.reason == nil { owners[grant.table, default: []].append(role) }
        }
        #expect(owners.count > 40)
        let shared = owners.filter { $0.value.count > 1 }
        #expect(shared.keys.sorted() == ["deliveries", "delivery_pages", "push_install_rates"])
        #expect(shared.values.allSatisfy { $0 == [.tokenRegistry, .notifier] })
    }

    @Test(arguments: ServiceRole.allCases) func `a service calls the listed functions, and no others`(role: ServiceRole) async throws {
        try await withServiceRoles { database, prefix in
            try await withClient(of: database, as: role, prefix: prefix) { client in
                let functions = try await client.query(
                    """
                    SELECT p.oid::regprocedure::text AS signature, p.proname || '(' || coalesce((
                               SELECT string_agg('NULL::' || t.type::regtype, ', ' ORDER BY t.number)
                               FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY AS t (type, number)), '') || ')' AS call
                    FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace AND p.prorettype <> 'trigger'::regtype
                    """)
                #expect(functions.count >= 3)
                for function in functions {
                    let signature = try function.decode("signature", as: String.self)
                    let isRefused = try await client.refuses("SELECT public.\(try function.decode("call", as: String.self))")
                    #expect(isRefused != role.functions.contains(signature), "\(signature)")
                }
            }
        }
    }

    @Test(arguments: ServiceRole.allCases)
    func `a service becomes no other role, and reaches neither files, passwords, settings nor the schema`(role: ServiceRole) async throws {
        try await withServiceRoles { database, prefix in
            let other = (ServiceRole.allCases.first { $0 != role } ?? role).name(prefix: prefix)
            try await withClient(of: database, as: role, prefix: prefix) { client in
                for statement in [
                    "SET ROLE heliograph", "SET ROLE \(other)", "SET SESSION AUTHORIZATION heliograph", "CREATE ROLE mine",
                    "ALTER ROLE \(other) PASSWORD 'mine'", "GRANT \(other) TO \(role.name(prefix: prefix))",
                    "GRANT SELECT ON schema_migrations TO PUBLIC", "ALTER TABLE users OWNER TO \(role.name(prefix: prefix))",
                    "ALTER TABLE users DISABLE TRIGGER ALL", "DROP TABLE users", "DROP SCHEMA public CASCADE", "CREATE SCHEMA mine",
                    "CREATE TABLE public.mine (a int)", "CREATE TEMP TABLE mine (a int)", "CREATE VIEW public.mine AS SELECT 1",
                    "CREATE FUNCTION public.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
                    "CREATE RULE mine AS ON SELECT TO users DO INSTEAD SELECT 1", "CREATE INDEX ON users (id)",
                    "CREATE TRIGGER mine BEFORE INSERT ON users EXECUTE FUNCTION audit_log_refuse()",
                    "CREATE PUBLICATION mine FOR ALL TABLES", "COPY (SELECT 1) TO PROGRAM 'true'", "COPY (SELECT 1) TO '/dev/null'",
                    "SELECT pg_read_file('PG_VERSION')", "SELECT pg_ls_dir('.')", "SELECT rolpassword FROM pg_authid",
                    "ALTER SYSTEM SET log_statement = 'all'", "SELECT pg_reload_conf()", "SET session_replication_role = replica",
                    "SELECT pg_create_physical_replication_slot('mine')",
                ] {
                    #expect(try await client.refuses(statement), "\(statement)")
                }
                let seen = try await client.query(
                    """
                    SELECT FROM pg_stat_activity
                    WHERE usename <> current_user AND query NOT IN ('', '<insufficient privilege>')
                    """)
                #expect(seen.isEmpty, "statements of other roles are hidden")
            }
        }
    }
}

extension ServiceRole {
    /// Whether ``grants`` has a privilege on a column, or on the whole table.
    fileprivate func may(_ statement: TableGrant.Privilege.Statement, _ table: String, _ column: String? = nil) -> Bool {
        grants.contains { grant in
            grant.table == table
                && grant.privileges.contains {
                    $0.statement == statement && ($0.columns.isEmpty || column.map($0.columns.contains) == true)
                }
        }
    }
}

extension PostgresClient {
    /// Returns whether the server refuses a statement for want of a privilege. It looks at constraints and rows after that; only that
    /// a view cannot be written or emptied it finds earlier.
    fileprivate func refuses(_ sql: String) async throws -> Bool {
        do {
            try await execute(PostgresQuery(unescaped: sql))
            return false
        } catch {
            guard let state = error.sqlState else { throw error }
            return ["42501", "55000", "42809"].contains(state)
        }
    }
}
