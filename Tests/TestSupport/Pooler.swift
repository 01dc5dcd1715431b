import Foundation

/// A real PgBouncer in front of a server, which pools transactions over a few connections.
public final class Pooler: Sendable {
    private let process: GuardedProcess
    private let folder: TemporaryDirectory
    /// The TCP port on 127.0.0.1.
    public let port: Int
    private let database: TestDatabase

    /// Starts a pooler in front of a database and returns when it answers queries.
    ///
    /// - Parameters:
    ///   - connections: The number of connections to the server that all clients of a role share.
    ///   - roles: The roles as which clients may connect, besides the owner of the tables.
    ///   - ignoresOptions: Whether it takes clients that send settings for their session, and drops those.
    public static func start(
        for database: TestDatabase, connections: Int, roles: [String] = [], ignoresOptions: Bool = false
    ) async throws -> Pooler {
        let folder = try TemporaryDirectory()
        let port = try FreePort.find()
        let settings = """
            [databases]
            * = host=\(database.server.socketFolder) port=\(database.server.port)
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = \(port)
            unix_socket_dir =
            auth_type = trust
            auth_file = \(folder.path)/users
            pool_mode = transaction
            default_pool_size = \(connections)
            max_client_conn = 1000
            \(ignoresOptions ? "ignore_startup_parameters = options" : "")
            """
        let file = folder.path + "/pgbouncer.ini"
        try settings.write(toFile: file, atomically: true, encoding: .utf8)
        let users = (["heliograph"] + roles).map { "\"\($0)\" \"\"\n" }.joined()
        try users.write(toFile: folder.path + "/users", atomically: true, encoding: .utf8)
        let user = PostgresServer.privilegeDrop
        if !user.isEmpty { try await CommandLineTool.run(["chown", "-R", "postgres:postgres", folder.path]) }
        let process = try GuardedProcess(user + ["/usr/sbin/pgbouncer", "-q", file], log: folder.path + "/pgbouncer.log")
        let pooler = Pooler(process: process, folder: folder, port: port, database: database)
        try await process.waitUntil("the pooler answers") {
            (try? await CommandLineTool.run(["psql", "-Atc", "SELECT 1", pooler.url])) == "1\n"
        }
        return pooler
    }

    private init(process: GuardedProcess, folder: TemporaryDirectory, port: Int, database: TestDatabase) {
        self.process = process
        self.folder = folder
        self.port = port
        self.database = database
    }

    /// Stops the pooler from working (`SIGSTOP`); its connections stay open and its port goes on accepting.
    public func freeze() { process.signal(SIGSTOP) }

    /// Kills the pooler.
    public func stop() async { await process.stop(signal: SIGKILL) }

    /// The libpq URI of the database through the pooler.
    public var url: String { url(as: "heliograph") }

    /// Returns the URI with another role.
    public func url(as role: String) -> String { "postgresql://\(role)@127.0.0.1:\(port)/\(database.name)" }
}
