public import Foundation
import Synchronization

/// A real server of Redis or Valkey on a Unix socket and, if requested, a TCP or TLS port of its own.
public final class RedisServer: Sendable {
    /// The persistence of the server's data.
    public enum Persistence: Sendable {
        /// In memory only.
        case none
        /// An append-only file, synced once per second, as in production.
        case appendOnly
    }

    /// A private certificate authority and a server certificate for `localhost`, as PEM files.
    public struct Certificates: Sendable {
        /// The path of the authority's certificate, which clients trust.
        public let authority: String
        /// The path of the server's certificate.
        public let certificate: String
        /// The path of the server's private key.
        public let key: String
    }

    /// `unix:///tmp/…/redis.sock`
    public var url: String { "unix://\(socket)" }
    /// The path of the Unix socket.
    public let socket: String
    /// The TCP port on 127.0.0.1 (TLS when ``certificates`` is set); `nil` without one.
    public let port: Int?
    /// The certificates of the TLS port; nil without TLS.
    public let certificates: Certificates?
    /// The folder of its files.
    public var path: String { folder.path }
    /// The path of its log.
    public var logFile: String { folder.path + "/redis.log" }
    private let folder: TemporaryDirectory
    private let password: String?
    private let arguments: [String]
    private let process: Mutex<GuardedProcess>

    /// The one server that the tests of this process share; each test uses keys of its own (``uniquePrefix()``).
    public static func shared() async throws -> RedisServer { try await sharedServer.value }
    private static let sharedServer = Task { try await RedisServer.start() }

    /// A key prefix that no other test has.
    public static func uniquePrefix() -> String { "t\(UUID().uuidString.prefix(8).lowercased()):" }

    /// Starts a server of its own and returns when it answers.
    ///
    /// - Parameters:
    ///   - certificates: The certificates of another server, to share them; by default new ones.
    ///   - names: The names in new certificates; see ``TestCertificates``.
    ///   - password: The password that clients need, and that is sent to a master.
    public static func start(
        persistence: Persistence = .none, tcp: Bool = false, tls: Bool = false, certificates: Certificates? = nil,
        names: String = TestCertificates.localNames, password: String? = nil, extraArguments: [String] = []
    ) async throws -> RedisServer {
        let folder = try TemporaryDirectory()
        var arguments = [
            program, "--unixsocket", "\(folder.path)/redis.sock", "--unixsocketperm", "777",
            "--dir", folder.path, "--save", "", "--daemonize", "no", "--enable-debug-command", "yes",
        ]
        if persistence == .appendOnly { arguments += ["--appendonly", "yes", "--appendfsync", "everysec"] }
        if let password { arguments += ["--requirepass", password, "--masterauth", password] }
        var certificates = certificates
        var port: Int?
        if tls {
            if certificates == nil { certificates = try await makeCertificates(in: folder.path, names) }
            let free = try FreePort.find()
            port = free
            arguments += [
                "--port", "0", "--tls-port", "\(free)", "--tls-cert-file", certificates!.certificate,
                "--tls-key-file", certificates!.key, "--tls-ca-cert-file", certificates!.authority,
                "--tls-auth-clients", "no",
            ]
        } else if tcp {
            let free = try FreePort.find()
            port = free
            arguments += ["--port", "\(free)", "--bind", "127.0.0.1"]
        } else {
            arguments += ["--port", "0"]
        }
        let process = try GuardedProcess(arguments + extraArguments, log: folder.path + "/redis.log")
        let server = RedisServer(
            folder: folder, port: port, certificates: certificates, password: password, arguments: arguments + extraArguments,
            process: process)
        try await server.waitUntilReady()
        return server
    }

    private init(
        folder: TemporaryDirectory, port: Int?, certificates: Certificates?, password: String?, arguments: [String],
        process: GuardedProcess
    ) {
        self.folder = folder
        self.socket = folder.path + "/redis.sock"
        self.port = port
        self.certificates = certificates
        self.password = password
        self.arguments = arguments
        self.process = Mutex(process)
    }

    /// The process id of the running server.
    public var pid: pid_t { process.withLock { $0.pid } }

    /// Kills the server as `kill -9` does.
    public func kill() async { await process.withLock { $0 }.stop(signal: SIGKILL) }

    /// Sends the server a signal, such as `SIGSTOP`.
    public func signal(_ number: Int32) { process.withLock { $0 }.signal(number) }

    /// Shuts the server down.
    public func stop() async { await process.withLock { $0 }.stop() }

    /// Starts the server again on the same socket, port and data.
    public func restart() async throws {
        await kill()
        let fresh = try GuardedProcess(arguments, log: logFile)
        process.withLock { $0 = fresh }
        try await waitUntilReady()
    }

    /// Runs `redis-cli` against the server.
    @discardableResult
    public func cli(_ arguments: String...) async throws -> String {
        try await CommandLineTool.run(["redis-cli", "-s", socket] + credentials + arguments)
    }

    private var credentials: [String] { password.map { ["--no-auth-warning", "-a", $0] } ?? [] }

    private func waitUntilReady() async throws {
        try await process.withLock { $0 }.waitUntil("the server answers") {
            (try? await cli("PING"))?.hasPrefix("PONG") == true
        }
    }

    private static func makeCertificates(in folder: String, _ names: String) async throws -> Certificates {
        let authority = folder + "/ca.crt"
        let certificate = folder + "/server.crt"
        let key = folder + "/server.key"
        try await TestCertificates.make(authority: authority, certificate: certificate, key: key, folder: folder, names: names)
        return Certificates(authority: authority, certificate: certificate, key: key)
    }
}
