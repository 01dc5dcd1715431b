public import AsyncPrimitives

/// The cause of a failure, as far as the error shows it. It decides what the pool does with the connection, whether the bus counts a failed
/// attempt of the message, and what the API answers.
public enum PostgresFault: Sendable, Hashable, CaseIterable {
    /// The connection ended while work was under way: whether a write took effect is unknown.
    case lostConnection
    /// The server cannot do such work for any client now: it is unreachable, read-only, full or starting, or its schema or privileges are
    /// not what this program needs.
    case outage
    /// A concurrent transaction was in the way: the same work may succeed when it is repeated as a whole.
    case conflict
    /// The statement with these values: work with other values may succeed.
    case message
    /// The program: the same statement fails with all values.
    case program

    /// Whether the failure is not the fault of the work, so that the work is repeated and the failure is not counted as an attempt.
    public var isUnavailability: Bool { self == .lostConnection || self == .outage }
}

extension PostgresFault {
    /// The fault of an SQLSTATE, and whether the connection that received it must be replaced, because others may lead to a server that
    /// can do the work.
    ///
    /// States that are not in the table have the fault of their class, the first two characters; other classes are faults of the program
    /// (https://www.postgresql.org/docs/current/errcodes-appendix.html).
    static func row(for sqlState: String) -> Row {
        states[sqlState] ?? classes[String(sqlState.prefix(2))] ?? Row(.program)
    }

    /// A row of the table.
    struct Row: Sendable, Hashable {
        let fault: PostgresFault
        let replacesConnection: Bool

        init(_ fault: PostgresFault, replacesConnection: Bool = false) {
            self.fault = fault
            self.replacesConnection = replacesConnection
        }
    }

    private static let lost = Row(.lostConnection, replacesConnection: true)

    static let classes: [String: Row] = [
        // Connection exceptions. PgBouncer reports 08P01 for every event that ends a client's connection.
        "08": lost,
        // Data exceptions, cardinality and constraint violations, exceptions raised in PL/pgSQL, limits such as the length of an index row.
        "21": Row(.message), "22": Row(.message), "23": Row(.message), "44": Row(.message), "54": Row(.message), "P0": Row(.message),
        // Authentication, and a database or schema that is not there.
        "28": Row(.outage), "3D": Row(.outage), "3F": Row(.outage),
        "40": Row(.conflict),
        // Insufficient resources: the disk or the memory is full, too many connections.
        "53": Row(.outage),
        // The server is shutting down or starting.
        "57": lost,
        // System errors, such as a failed read of a file.
        "58": Row(.outage),
    ]

    static let states: [String: Row] = [
        // A standby, a demoted primary, or `default_transaction_read_only`.
        "25006": Row(.outage, replacesConnection: true),
        // The server has ended a session that did nothing within a transaction, or whose transaction took too long.
        "25P03": lost, "25P04": lost,
        // Another session prepared the statement, for example behind a pooler that the configuration does not name.
        "26000": lost, "42P05": lost,
        "40003": lost,
        // The schema is older than the program, or the role lacks a privilege: undefined table, column, function and object.
        "42P01": Row(.outage), "42703": Row(.outage), "42883": Row(.outage), "42704": Row(.outage), "42501": Row(.outage),
        "55006": Row(.conflict), "55P03": Row(.conflict),
        // A statement that was cancelled or took too long; and a database that was dropped.
        "57014": Row(.message), "57P04": Row(.outage),
    ]
}

extension PostgresError: DependencyFailure {
    /// Whether the failure is not the fault of the work: see ``PostgresFault/isUnavailability``.
    public var isUnavailability: Bool { fault.isUnavailability }

    /// The cause of the failure.
    public var fault: PostgresFault {
        switch code {
        case .sqlState(let state): PostgresFault.row(for: state).fault
        case .connectionLost: .lostConnection
        case .unavailable, .queueFull, .closed: .outage
        case .timeout: .message
        case .cancelled, .decoding, .configuration, .invalidQuery, .migration: .program
        }
    }

    /// Whether the same work may soon succeed when it is repeated as a whole: not before an operator has mended the schema, the privileges
    /// or the address.
    ///
    /// After a lost connection or a timeout a write may already have taken effect, so repeat it only where it is idempotent.
    public var isRetryable: Bool {
        switch fault {
        case .lostConnection, .conflict: true
        case .outage: code != .closed && !needsOperator
        case .message: code == .timeout
        case .program: false
        }
    }

    private var needsOperator: Bool { ["28", "3D", "3F", "42"].contains { sqlState?.hasPrefix($0) == true } }

    /// Whether the connection that the server sent this error on leads to a server that cannot do the work.
    var replacesConnection: Bool { sqlState.map { PostgresFault.row(for: $0).replacesConnection } ?? false }
}
