import Foundation
import Synchronization

/// A real Postgres server on a Unix socket of its own, with a fresh data directory.
///
/// Commits do not wait for the disk (`fsync=off`) by default: the tests are about killed processes, not power failures.
public final class PostgresServer: Sendable {
    /// The folder of the Unix socket.
    public let socketFolder: String
    /// The TCP port on 127.0.0.1, which is also a part of the Unix socket's name.
    public let port: Int
    /// The path of its log.
    public var logFile: String { folder.path + "/postgres.log" }
    private let folder: TemporaryDirectory
    private let settings: [String]
    private let arguments: [String]
    private let process: Mutex<GuardedProcess>

    /// The one server that the tests of this process share; each test has a database of its own (``TestDatabase``).
    public static func shared() async throws -> PostgresServer { try await sharedServer.value }
    private static let sharedServer = Task { try await PostgresServer.start() }

    /// Makes a data directory, starts a server on it and returns when it accepts connections.
    public static func start(fsync: Bool = false, extraArguments: [String] = []) async throws -> PostgresServer {
        // A database has some 300 files, and each test creates one: on a disk, this took two thirds of the time of a test run.
        let folder = try TemporaryDirectory(inMemory: !fsync)
        let data = folder.path + "/data"
        let binaries = try binariesFolder()
        let user = privilegeDrop
        if !user.isEmpty { try await CommandLineTool.run(["chown", "postgres:postgres", folder.path]) }
        try await CommandLineTool.run(
            user + [
                "\(binaries)/initdb", "-D", data, "-U", "heliograph", "--auth=trust", "--encoding=UTF8",
                "--locale=C.UTF-8", "--no-sync",
            ])
        let settings =
            ["-c", "max_connections=300", "-c", "shared_buffers=64MB"] + (fsync ? [] : ["-c", "fsync=off", "-c", "full_page_writes=off"])
        let recording = StatementRecording.current
        let server = try await launch(in: folder, settings: settings + (recording?.serverArguments ?? []) + extraArguments)
        try await recording?.prepare(server)
        recording?.observe()
        return server
    }

    /// Starts a standby of this server, which replays what it writes, and returns when it accepts connections.
    public func startStandby() async throws -> PostgresServer {
        let folder = try TemporaryDirectory(inMemory: true)
        let user = Self.privilegeDrop
        if !user.isEmpty { try await CommandLineTool.run(["chown", "postgres:postgres", folder.path]) }
        try await CommandLineTool.run(
            user + [
                Self.binariesFolder() + "/pg_basebackup", "-D", folder.path + "/data", "-d", url(), "--write-recovery-conf",
                "--checkpoint=fast", "--no-sync",
            ])
        return try await Self.launch(in: folder, settings: settings)
    }

    /// Makes a standby a primary, and returns when it takes writes.
    public func promote() async throws { try await psql("SELECT pg_promote()") }

    /// Starts a server on the data directory in a folder.
    private static func launch(in folder: TemporaryDirectory, settings: [String]) async throws -> PostgresServer {
        let port = try FreePort.find()
        let arguments =
            try privilegeDrop + [
                "\(binariesFolder())/postgres", "-D", folder.path + "/data", "-k", folder.path, "-p", "\(port)",
                "-c", "listen_addresses=127.0.0.1",
            ] + settings
        let process = try GuardedProcess(arguments, log: folder.path + "/postgres.log")
        let server = PostgresServer(folder: folder, port: port, settings: settings, arguments: arguments, process: process)
        try await server.waitUntilReady()
        return server
    }

    private init(folder: TemporaryDirectory, port: Int, settings: [String], arguments: [String], process: GuardedProcess) {
        self.folder = folder
        self.socketFolder = folder.path
        self.port = port
        self.settings = settings
        self.arguments = arguments
        self.process = Mutex(process)
    }

    /// Returns the libpq URI of a database on the Unix socket.
    public func url(database: String = "postgres", user: String = "heliograph") -> String {
        let host = socketFolder.replacingOccurrences(of: "/", with: "%2F")
        return "postgresql://\(user)@\(host):\(port)/\(database)"
    }

    /// Returns the libpq URI of a database on 127.0.0.1.
    public func tcpURL(database: String = "postgres") -> String {
        "postgresql://heliograph@127.0.0.1:\(port)/\(database)"
    }

    /// Runs SQL with `psql`, which shares no code with the client under test, and returns unaligned rows.
    @discardableResult
    public func psql(_ sql: String, database: String = "postgres") async throws -> String {
        let output = try await CommandLineTool.run(
            [Self.binariesFolder() + "/psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", url(database: database), "-c", sql])
        return output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Returns a database as `pg_dump` writes it.
    func dump(database: String) async throws -> String {
        try await CommandLineTool.run([Self.binariesFolder() + "/pg_dump", "-d", url(database: database)])
    }

    /// Stops the server at once (`SIGQUIT`), like a crash; committed work is recovered at the next start.
    public func kill() async { await process.withLock { $0 }.stop(signal: SIGQUIT) }

    /// Closes all sessions and shuts the server down (`SIGINT`).
    public func stop() async { await process.withLock { $0 }.stop(signal: SIGINT) }

    /// Starts the server again on the same data, socket and port.
    public func restart() async throws {
        await stop()
        try await start()
    }

    /// Starts a stopped server on the same data, socket and port.
    public func start() async throws {
        let fresh = try GuardedProcess(arguments, log: logFile)
        process.withLock { $0 = fresh }
        try await waitUntilReady()
    }

    private func waitUntilReady() async throws {
        try await process.withLock { $0 }.waitUntil("postgres takes connections") {
            (try? await CommandLineTool.run(["pg_isready", "-q", "-h", socketFolder, "-p", "\(port)"])) != nil
        }
    }

    /// The prefix of commands that run as the user of Debian's package when the tests run as root, as which Postgres refuses to
    /// run.
    static var privilegeDrop: [String] {
        getuid() == 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] : []
    }

    private static func binariesFolder() throws -> String {
        let root = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        let newest = versions.filter { FileManager.default.isExecutableFile(atPath: "\(root)/\($0)/bin/postgres") }
            .max { (Int($0) ?? 0) < (Int($1) ?? 0) }
        guard let newest else { throw DeadlineExceeded(description: "no Postgres server: run `make setup` first") }
        return "\(root)/\(newest)/bin"
    }
}
