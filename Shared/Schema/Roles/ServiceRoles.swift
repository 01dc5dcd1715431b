public import PostgresClient

/// Gives each service a role of its own in the database, with the privileges of ``ServiceRole/grants`` and no others, and with
/// ``SessionLimit/settingsOfServices`` in each of its sessions, whatever leads to the server.
public struct ServiceRoles: Sendable {
    private let prefix: String
    private let passwords: ServicePasswords

    /// - Parameters:
    ///   - prefix: The beginning of the roles' names; see ``isValid(prefix:)``.
    ///   - passwords: The passwords to set; a role without one keeps its present password, and a new role can log in without a password
    ///     only.
    public init(prefix: String = ServiceRole.defaultPrefix, passwords: ServicePasswords = ServicePasswords()) {
        precondition(Self.isValid(prefix: prefix), "a prefix of roles is 1 to 32 of a-z 0-9 _")
        self.prefix = prefix
        self.passwords = passwords
    }

    /// Whether a text can begin the names of roles: 1 to 32 of a-z, 0-9 and _, and no digit first.
    public static func isValid(prefix: String) -> Bool {
        guard let first = prefix.utf8.first, (1...32).contains(prefix.utf8.count), !(0x30...0x39).contains(first) else { return false }
        return prefix.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F }
    }

    /// Creates the roles that are missing, and replaces the settings and privileges of all of them, and the privileges of PUBLIC, in one
    /// transaction. New settings hold for sessions that begin afterwards.
    ///
    /// Repeating it changes nothing. Call after the migrations, with the role that owns the tables; it needs CREATEROLE for roles that
    /// are missing, for settings that change and for passwords.
    public func apply(to client: PostgresClient) async throws {
        try await client.withTransaction { transaction in
            try await transaction.execute("SELECT pg_advisory_xact_lock(hashtextextended('heliograph service roles', 0))")
            for role in ServiceRole.allCases {
                try await create(role, in: transaction)
                try await setSettings(of: role, in: transaction)
            }
            try await transaction.script(privileges)
        }
    }

    private func create(_ role: ServiceRole, in transaction: PostgresTransaction) async throws {
        let name = role.name(prefix: prefix)
        if try await transaction.query("SELECT FROM pg_roles WHERE rolname = \(name)").isEmpty {
            // A set-up of another database may create the role at the same moment: a server's databases share its roles.
            try await transaction.script(
                """
                DO $$ BEGIN
                    CREATE ROLE \(name) LOGIN NOINHERIT;
                EXCEPTION WHEN duplicate_object OR unique_violation THEN
                    NULL;
                END $$
                """)
        }
        if let password = passwords[role] {
            try await transaction.script("ALTER ROLE \(name) PASSWORD '\(ScramVerifier(password: password).text)'")
        }
    }

    /// Sets the settings that the role does not have in all databases of the server. An operator may still set others for one database.
    private func setSettings(of role: ServiceRole, in transaction: PostgresTransaction) async throws {
        let name = role.name(prefix: prefix)
        let rows = try await transaction.query(
            """
            SELECT unnest(setconfig)::text AS entry FROM pg_db_role_setting
            WHERE setrole = (SELECT oid FROM pg_roles WHERE rolname = \(name)) AND setdatabase = 0
            """)
        let entries = try rows.column("entry", as: String.self)
        for setting in SessionLimit.settingsOfServices where !entries.contains("\(setting.name)=\(setting.value)") {
            try await transaction.script("ALTER ROLE \(name) SET \(setting.name) = '\(setting.value)'")
        }
    }

    /// The statements that take all privileges and grant the listed ones. Superusers and the owner are not affected.
    private var privileges: String {
        let roles = ServiceRole.allCases.map { $0.name(prefix: prefix) }.joined(separator: ", ")
        var statements = [
            """
            DO $$ BEGIN
                EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC, \(roles)', current_database());
                EXECUTE format('GRANT CONNECT ON DATABASE %I TO \(roles)', current_database());
            END $$;
            REVOKE ALL ON SCHEMA public FROM PUBLIC, \(roles);
            GRANT USAGE ON SCHEMA public TO \(roles);
            REVOKE ALL ON ALL TABLES IN SCHEMA public FROM PUBLIC, \(roles);
            REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM PUBLIC, \(roles);
            REVOKE ALL ON ALL ROUTINES IN SCHEMA public FROM PUBLIC, \(roles);
            """
        ]
        for role in ServiceRole.allCases {
            let name = role.name(prefix: prefix)
            statements += role.grants.map { $0.sql(to: name) }
            statements += role.functions.map { "GRANT EXECUTE ON FUNCTION \($0) TO \(name);" }
        }
        return statements.joined(separator: "\n")
    }
}
