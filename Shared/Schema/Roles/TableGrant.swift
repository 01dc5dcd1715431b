/// The privileges of a service's role on a table or a view.
public struct TableGrant: Sendable, Equatable {
    /// A privilege on a table, or on some of its columns.
    public struct Privilege: Sendable, Equatable {
        /// The statement that it is for.
        public enum Statement: String, Sendable, CaseIterable {
            case select = "SELECT"
            case insert = "INSERT"
            case update = "UPDATE"
            case delete = "DELETE"
        }

        /// The kind of statement that the privilege allows.
        public let statement: Statement
        /// The columns that it is limited to; empty for all.
        public let columns: [String]

        static let select = Self(statement: .select, columns: [])
        static let insert = Self(statement: .insert, columns: [])
        static let update = Self(statement: .update, columns: [])
        static let delete = Self(statement: .delete, columns: [])

        static func select(of columns: String...) -> Self { Self(statement: .select, columns: columns) }
        static func update(of columns: String...) -> Self { Self(statement: .update, columns: columns) }
    }

    /// The name of the table or the view, without a schema.
    public let table: String
    /// What the role may do with the table; never empty.
    public let privileges: [Privilege]
    /// Why the service works with a table of another one; nil when the table is its own.
    public let reason: String?

    /// A table of the service itself; with all privileges if none is named.
    static func own(_ table: String, _ privileges: Privilege...) -> Self { Self(table, privileges, reason: nil) }

    /// A table of another service, or a shared table; with all privileges if none is named.
    static func borrow(_ table: String, _ privileges: Privilege..., because reason: String) -> Self {
        Self(table, privileges, reason: reason)
    }

    private init(_ table: String, _ privileges: [Privilege], reason: String?) {
        self.table = table
        self.privileges = privileges.isEmpty ? [.select, .insert, .update, .delete] : privileges
        self.reason = reason
    }

    /// Returns the statement that grants it to a role.
    func sql(to role: String) -> String {
        let list = privileges.map { privilege in
            privilege.columns.isEmpty
                ? privilege.statement.rawValue : "\(privilege.statement.rawValue) (\(privilege.columns.joined(separator: ", ")))"
        }
        return "GRANT \(list.joined(separator: ", ")) ON \(table) TO \(role);"
    }
}

extension ServiceRole {
    /// All privileges of the role on tables; any other access is refused.
    public var grants: [TableGrant] {
        let own =
            switch self {
            case .identityAPI: Self.identityAPIGrants
            case .faceMatchingWorker: Self.faceMatchingWorkerGrants
            case .imageWorker: Self.imageWorkerGrants
            case .tokenRegistry: Self.tokenRegistryGrants
            case .notifier: Self.notifierGrants
            }
        return own + Self.busGrants + erasureGrants + [Self.schemaGrant]
    }

    /// The functions of the schema that the role may call; triggers need no privilege.
    public var functions: [String] {
        self == .identityAPI ? ["audit_log_maintain()", "audit_log_of(uuid)", "audit_log_pseudonymise(uuid)"] : []
    }

    /// The tables of erasures: every service reads what to erase, and reports it. The tokens and receipts stay hidden.
    private var erasureGrants: [TableGrant] {
        let reports = TableGrant.borrow(
            "erasure_reports", .select, .insert, .update, because: "every service reports what it has erased of a user")
        guard self != .identityAPI else { return [reports] }
        return [
            reports,
            .borrow(
                "erasures", .select(of: "id", "scope", "user_id", "attempt_keys", "subject_hash", "requested_at", "completed_at"),
                because: "every service erases what it keeps of a user"),
        ]
    }

    /// The tables that a service reads before it starts.
    private static let schemaGrant = TableGrant.borrow(
        "schema_migrations", .select(of: "number"), because: "every service waits for the schema that it was built for")

    /// The tables of the event bus, which is the same code in every service. Any relay publishes any committed message, so that no message
    /// depends on the process that wrote it.
    private static let busGrants: [TableGrant] = [
        .borrow("outbox", .select, .insert, .update, because: "every relay publishes every message, whichever service wrote it"),
        .borrow("inbox", .select, .insert, because: "the marks of handled messages, which confirm the messages of the outbox"),
        .borrow(
            "dead_letters", .select(of: "stream", "id", "consumer_group", "dead_lettered_at"), .insert, .delete,
            because: "every service keeps what its group gives up, counts it, and deletes it when it is too old"),
    ]
}
