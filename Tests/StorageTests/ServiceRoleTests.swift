import Foundation
import PostgresClient
import TestSupport
import Testing

@testable import Schema

struct ServiceRoleTests {
    @Test func `a role has on every column what is listed and nothing else`() async throws {
        try await withServiceRoles { database, prefix in
            try await withClient(of: database) { client in
                let columns = try await client.query(
                    """
                    SELECT c.relname::text AS name, a.attname::text AS column_name, r.service, p.name AS privilege,
                           has_column_privilege(r.name, c.oid, a.attname, p.name) AS is_held
                    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
                    CROSS JOIN unnest(\(ServiceRole.names(prefix: prefix)), \(ServiceRole.allCases.map(\.rawValue))) AS r (name, service)
                    CROSS JOIN unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'REFERENCES']) AS p (name)
                    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
                    """)
                #expect(columns.count > 5_000)
                var wrong: [String] = []
                for row in columns {
                    let service = try row.decode("service", as: String.self)
                    let (table, column) = (try row.decode("name", as: String.self), try row.decode("column_name", as: String.self))
                    let privilege = try row.decode("privilege", as: String.self)
                    let isListed = ServiceRole(rawValue: service)?.lists(privilege, on: table, column: column)
                    if try row.decode("is_held", as: Bool.self) != isListed { wrong.append("\(service) \(privilege) \(table).\(column)") }
                }
                #expect(wrong == [])
            }
        }
    }

    @Test func `a role deletes from the listed tables only, and empties or extends none`() async throws {
        try await withServiceRoles { database, prefix in
            try await withClient(of: database) { client in
                let tables = try await client.query(
                    """
                    SELECT c.relname::text AS name, r.service, p.name AS privilege,
                           has_table_privilege(r.name, c.oid, p.name) AS is_held
                    FROM pg_class c
                    CROSS JOIN unnest(\(ServiceRole.names(prefix: prefix)), \(ServiceRole.allCases.map(\.rawValue))) AS r (name, service)
                    CROSS JOIN unnest(ARRAY['DELETE', 'TRUNCATE', 'TRIGGER']) AS p (name)
                    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
                    """)
                var wrong: [String] = []
                for row in tables {
                    let service = try row.decode("service", as: String.self)
                    let (table, privilege) = (try row.decode("name", as: String.self), try row.decode("privilege", as: String.self))
                    let isListed = ServiceRole(rawValue: service)?.lists(privilege, on: table, column: nil)
                    if try row.decode("is_held", as: Bool.self) != isListed { wrong.append("\(service) \(privilege) \(table)") }
                }
                #expect(wrong == [])
            }
        }
    }

    @Test(.storage) func `every table is listed, and has a service that owns it or is known to be shared`() async throws {
        let found = try await client.query(
            """
            SELECT relname::text AS name FROM pg_class
            WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v') AND NOT relispartition
            """)
        let tables = Set(try found.column("name", as: String.self))
        let grants = ServiceRole.allCases.flatMap(\.grants)
        let listed = Set(grants.map(\.table))
        #expect(listed.subtracting(tables) == [], "tables that do not exist")
        #expect(tables.subtracting(listed) == [], "tables that no service may use")
        // The bus and the erasures of all services use the first four; operators write the others, and migrations the last.
        #expect(
            listed.subtracting(grants.filter { $0.reason == nil }.map(\.table))
                == ["outbox", "inbox", "dead_letters", "erasure_reports", "image_templates", "audit_log", "schema_migrations"])
    }

    /// Run with `UPDATE_GOLDEN=1` to write the section again.
    @Test func `the documentation lists every table that a service shares with another one`() throws {
        var lines = ["| Service | Table | May | Because |", "|---|---|---|---|"]
        for role in ServiceRole.allCases {
            for grant in role.grants {
                guard let reason = grant.reason else { continue }
                let privileges = grant.privileges.map { privilege in
                    privilege.statement.rawValue + (privilege.columns.isEmpty ? "" : " (\(privilege.columns.joined(separator: ", ")))")
                }
                lines.append("| \(role.rawValue) | `\(grant.table)` | \(privileges.joined(separator: ", ")) | \(reason) |")
            }
        }
        let section = lines.map { $0 + "\n" }.joined()
        #expect(try GeneratedSection("Tables that a service shares", of: "docs/ARCHITECTURE.md").holds(section))
    }

    @Test func `no role creates tables, and only identity-api may call functions`() async throws {
        try await withServiceRoles { database, prefix in
            let names = ServiceRole.names(prefix: prefix).map { "'\($0)'" }.joined(separator: ",")
            let functions = try await database.psql(
                """
                SELECT r.rolname || ' ' || p.proname FROM pg_proc p CROSS JOIN pg_roles r
                WHERE p.pronamespace = 'public'::regnamespace AND r.rolname IN (\(names))
                  AND has_function_privilege(r.oid, p.oid, 'EXECUTE')
                ORDER BY p.proname
                """)
            let name = ServiceRole.identityAPI.name(prefix: prefix)
            #expect(functions == "\(name) audit_log_maintain\n\(name) audit_log_of\n\(name) audit_log_pseudonymise")
            let schemas = try await database.psql(
                """
                SELECT count(*) FROM pg_roles r WHERE r.rolname IN (\(names))
                  AND (has_schema_privilege(r.oid, 'public', 'CREATE') OR has_database_privilege(r.oid, current_database(), 'TEMP')
                       OR has_database_privilege(r.oid, current_database(), 'CREATE') OR r.rolsuper OR r.rolcreaterole OR r.rolcreatedb)
                """)
            #expect(schemas == "0")
        }
    }

    @Test(arguments: ServiceRole.allCases) func `a role adds to the audit log at most, and cannot read, change or empty it`(
        role: ServiceRole
    ) async throws {
        try await withServiceRoles { database, prefix in
            try await withClient(of: database, as: role, prefix: prefix) { client in
                for statement in [
                    "SELECT FROM audit_log", "SELECT FROM audit_log_default", "DELETE FROM audit_log", "UPDATE audit_log SET at = now()",
                    "TRUNCATE audit_log", "DROP TABLE audit_log", "ALTER TABLE audit_log DISABLE TRIGGER ALL",
                ] {
                    let error = await #expect(throws: PostgresError.self) { try await client.execute(PostgresQuery(unescaped: statement)) }
                    #expect(error?.sqlState == "42501", "\(statement)")
                }
            }
        }
    }

    @Test func `applying again changes nothing, and takes what was granted by hand`() async throws {
        try await withServiceRoles { database, prefix in
            let listing = "SELECT relname, relacl FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY relname"
            let before = try await database.psql(listing)
            let notifier = ServiceRole.notifier.name(prefix: prefix)
            try await database.psql("GRANT SELECT ON face_templates TO \(notifier); GRANT SELECT (email_sealed) ON users TO PUBLIC")
            try await withClient(of: database) { try await ServiceRoles(prefix: prefix).apply(to: $0) }
            #expect(try await database.psql(listing) == before)
            #expect(try await database.psql("SELECT has_column_privilege('\(notifier)', 'users', 'email_sealed', 'SELECT')") == "f")
        }
    }

    @Test func `each session of a role has both limits and compiles no statement, also after an operator has changed that`() async throws {
        try await withServiceRoles { database, prefix in
            let names = ["statement_timeout", "idle_in_transaction_session_timeout", "jit"]
            let settings = names.map { "current_setting('\($0)')" }.joined(separator: " || ' ' || ")
            func read(_ role: ServiceRole) async throws -> String {
                let url = database.connecting(as: role.name(prefix: prefix)).url
                return try await CommandLineTool.run(["psql", "-XAtq", "-d", url, "-c", "SELECT \(settings)"])
            }
            for role in ServiceRole.allCases { #expect(try await read(role) == "1min 8s off\n", "\(role)") }
            let notifier = ServiceRole.notifier.name(prefix: prefix)
            try await database.psql("ALTER ROLE \(notifier) SET statement_timeout = 0; ALTER ROLE \(notifier) RESET ALL")
            try await database.psql("ALTER ROLE \(notifier) SET idle_in_transaction_session_timeout = '1h'")
            try await database.psql("ALTER ROLE \(notifier) SET jit = on")
            try await withClient(of: database) { try await ServiceRoles(prefix: prefix).apply(to: $0) }
            #expect(try await read(.notifier) == "1min 8s off\n")
        }
    }

    @Test func `the verifier of a password is the one that Postgres makes`() async throws {
        try await withServiceRoles { database, prefix in
            let name = ServiceRole.notifier.name(prefix: prefix)
            let password = "correct-horse-battery-staple"
            try await database.psql("SET password_encryption = 'scram-sha-256'; ALTER ROLE \(name) PASSWORD '\(password)'")
            let stored = try await database.psql("SELECT rolpassword FROM pg_authid WHERE rolname = '\(name)'")
            // SCRAM-SHA-256$<iterations>:<salt>$<StoredKey>:<ServerKey>
            let parts: [Substring] = stored.split { $0 == "$" || $0 == ":" }
            let salt = try #require(parts.dropFirst(2).first)
            let bytes = try #require(Data(base64Encoded: String(salt)))
            #expect(ScramVerifier(password: password, salt: [UInt8](bytes)).text == stored)
        }
    }

    @Test func `a password is set, and kept when none is given`() async throws {
        try await withServiceRoles { database, prefix in
            let name = ServiceRole.notifier.name(prefix: prefix)
            let stored = "SELECT rolpassword FROM pg_authid WHERE rolname = '\(name)'"
            #expect(try await database.psql(stored) == "")
            let passwords = try #require(ServicePasswords(parsing: "notifier=0123456789abcdef\n"))
            try await withClient(of: database) { try await ServiceRoles(prefix: prefix, passwords: passwords).apply(to: $0) }
            let set = try await database.psql(stored)
            #expect(set.hasPrefix("SCRAM-SHA-256$4096:"))
            try await withClient(of: database) { try await ServiceRoles(prefix: prefix).apply(to: $0) }
            #expect(try await database.psql(stored) == set)
        }
    }

    @Test(arguments: ["notifier", "notifier=short", "mailer=0123456789abcdef", "notifier=0123456789abcdef notifier=0123456789abcdef"])
    func `passwords in another form are refused`(text: String) {
        #expect(ServicePasswords(parsing: text) == nil)
    }
}

extension ServiceRole {
    fileprivate static func names(prefix: String) -> [String] { allCases.map { $0.name(prefix: prefix) } }

    /// Whether ``grants`` has a privilege on a column, or on the whole table.
    fileprivate func lists(_ privilege: String, on table: String, column: String?) -> Bool {
        grants.contains { grant in
            grant.table == table
                && grant.privileges.contains {
                    $0.statement.rawValue == privilege && ($0.columns.isEmpty || column.map($0.columns.contains) == true)
                }
        }
    }
}
