internal import CLibPQ
package import Synchronization

/// Sees each statement that the connections of this process prepare, for tests that look at the plans of all statements.
///
/// The server's own statistics have constants replaced by parameters, which decide whether a partial index can be used.
package enum StatementObserver {
    /// A statement with its text, the types of its parameters (0 where the server infers the type), and the role of the connection.
    package struct Statement: Hashable, Sendable {
        package let role: String
        package let sql: String
        package let types: [UInt32]
    }

    /// Called on the event loop before a statement is prepared. nil observes nothing.
    package static let observe = Mutex<(@Sendable (Statement) -> Void)?>(nil)

    static func willPrepare(_ key: PreparedStatement.Key, on connection: OpaquePointer) {
        guard let observe = observe.withLock({ $0 }) else { return }
        observe(Statement(role: PQuser(connection).map { String(cString: $0) } ?? "", sql: key.sql, types: key.types))
    }
}
