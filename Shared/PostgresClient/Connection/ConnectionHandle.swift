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
        let parameters = Self.parameters(configuration)
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
        guard PQsetnonblocking(pointer, 1) == 0, PQenterPipelineMode(pointer) == 1 else {
            throw PostgresError(code: .connectionLost, message: PostgresError.connectionMessage(pointer))
        }
        return handle
    }

    /// The parameters of libpq. The later of two with the same name applies: the connection string may replace those before it.
    private static func parameters(_ configuration: PostgresConfiguration) -> [(name: String, value: String)] {
        let timeoutSeconds = max(2, (configuration.connectTimeout.roundedUpMilliseconds + 999) / 1000)
        var parameters = [
            ("keepalives_idle", "10"), ("keepalives_interval", "3"), ("keepalives_count", "3"),
            ("tcp_user_timeout", String(configuration.unacknowledgedTimeout.roundedUpMilliseconds)),
        ]
        if !configuration.isPooled { parameters.append(("target_session_attrs", "read-write")) }
        parameters += [
            ("dbname", configuration.url),
            ("application_name", configuration.applicationName),
            ("client_encoding", "UTF8"),
            ("connect_timeout", String(timeoutSeconds)),
        ]
        // A pooler refuses the parameter, or would hand the settings to another client; there the role has them.
        if !configuration.isPooled { parameters.append(("options", sessionOptions(configuration))) }
        return parameters
    }

    /// The settings of the session, and after them the options of the connection string, which may replace them.
    private static func sessionOptions(_ configuration: PostgresConfiguration) -> String {
        let settings = configuration.sessionSettings.map { "-c \($0.name)=\($0.value)" }
        return (settings + [ConnectionString(configuration.url)?["options"]].compactMap { $0 }).joined(separator: " ")
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
    ///
    /// It has no time limit of its own. A peer that accepts and does not answer keeps the thread until it does or ends; as each connection
    /// is closed after one such request, there are never more threads than connections that were made.
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
