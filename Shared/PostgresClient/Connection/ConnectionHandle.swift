internal import CLibPQ
internal import Glibc
internal import Logging

/// Owns a PGconn and the handle to cancel its statements.
///
/// Sendable is unchecked: a helper thread makes it and passes it once to the loop, which alone uses it from then on.
final class ConnectionHandle: @unchecked Sendable {
    let connection: OpaquePointer
    let cancellation: CancelHandle?
    private let notices: NoticeLog

    private init(connection: OpaquePointer, notices: NoticeLog) {
        self.connection = connection
        self.notices = notices
        cancellation = PQgetCancel(connection).map(CancelHandle.init)
    }

    deinit {
        PQfinish(connection)
    }

    /// Connects and configures the session. Blocks: call it on a helper thread.
    static func open(_ configuration: PostgresConfiguration, logger: Logger) throws(PostgresError) -> ConnectionHandle {
        let timeoutSeconds = max(2, (configuration.connectTimeout.roundedUpMilliseconds + 999) / 1000)
        // The later of two parameters with the same name applies: the URL may override those before dbname.
        let parameters: [(name: String, value: String)] = [
            ("keepalives_idle", "30"), ("keepalives_interval", "10"), ("keepalives_count", "3"),
            ("dbname", configuration.url),
            ("application_name", configuration.applicationName),
            ("client_encoding", "UTF8"),
            ("connect_timeout", String(timeoutSeconds)),
        ]
        let pointer = withCStrings(parameters.map(\.name)) { names in
            withCStrings(parameters.map(\.value)) { values in PQconnectdbParams(names, values, 1) }
        }
        guard let pointer else { throw PostgresError(code: .connectionLost, message: "out of memory") }
        let notices = NoticeLog(logger: logger)
        let handle = ConnectionHandle(connection: pointer, notices: notices)
        guard PQstatus(pointer) == CONNECTION_OK else {
            throw PostgresError(code: .connectionLost, message: PostgresError.connectionMessage(pointer))
        }
        notices.install(on: pointer)
        // Behind a pooler the settings would reach the session of another client.
        if !configuration.isPooled { try handle.configureSession(configuration) }
        guard PQsetnonblocking(pointer, 1) == 0, PQenterPipelineMode(pointer) == 1 else {
            throw PostgresError(code: .connectionLost, message: PostgresError.connectionMessage(pointer))
        }
        return handle
    }

    private func configureSession(_ configuration: PostgresConfiguration) throws(PostgresError) {
        let settings = [
            ("statement_timeout", String(configuration.statementTimeout.roundedUpMilliseconds)),
            ("idle_in_transaction_session_timeout", String(configuration.idleTransactionTimeout.roundedUpMilliseconds)),
        ]
        for (name, value) in settings {
            let result = withCStrings([name, value]) { values in
                PQexecParams(connection, "SELECT set_config($1, $2, false)", 2, nil, values, nil, nil, 1)
            }
            guard let result else {
                throw PostgresError(code: .connectionLost, message: PostgresError.connectionMessage(connection))
            }
            defer { PQclear(result) }
            guard PQresultStatus(result) == PGRES_TUPLES_OK else {
                throw PostgresError(result: result, connection: connection)
            }
        }
    }

}

/// Owns a PGcancel.
///
/// Sendable is unchecked: libpq documents PQcancel as safe on any thread, and only deinit frees the object.
final class CancelHandle: @unchecked Sendable {
    private let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit {
        PQfreeCancel(pointer)
    }

    /// Asks the server to stop the running statement. Blocks for a round trip on a new connection: call it on a helper thread.
    func cancel() {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            _ = PQcancel(pointer, buffer.baseAddress, Int32(buffer.count))
        }
    }
}

/// Logs the server's notices, which libpq would print otherwise.
private final class NoticeLog: Sendable {
    private let logger: Logger

    init(logger: Logger) {
        self.logger = logger
    }

    /// Registers for the notices of a connection. The connection does not retain this object: its handle holds both.
    func install(on connection: OpaquePointer) {
        PQsetNoticeReceiver(
            connection,
            { context, result in
                guard let context, let result else { return }
                Unmanaged<NoticeLog>.fromOpaque(context).takeUnretainedValue().log(result)
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    private func log(_ result: OpaquePointer) {
        let severity = DiagnosticField.severity.read(result) ?? "NOTICE"
        logger.log(
            level: severity == "WARNING" ? .warning : .debug, "notice from the server",
            metadata: [
                "severity": "\(severity)", "sqlstate": "\(DiagnosticField.sqlState.read(result) ?? "")",
                "notice": "\(DiagnosticField.message.read(result) ?? "")",
            ])
    }
}

/// Calls the body with a NULL-terminated array of C strings.
private func withCStrings<Result>(
    _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result
) -> Result {
    let copies = strings.map { strdup($0) }
    defer { copies.forEach { free($0) } }
    let pointers = copies.map { UnsafePointer($0) } + [nil]
    return pointers.withUnsafeBufferPointer { body($0.baseAddress) }
}
