import Foundation

/// nghttpd, an independent HTTP/2 server: it serves a folder and echoes posted bodies.
public final class NGHTTPServer: Sendable {
    private static let address = "127.0.0.1"

    /// The folder it serves, with `file.txt` in it, and its certificates.
    public let directory: TemporaryDirectory
    /// The port of 127.0.0.1 that it listens on.
    public let port: Int
    /// The process of the server.
    public let process: GuardedProcess
    private let scheme: String
    /// The PEM file of the authority to trust.
    public var authority: String { directory.path + "/ca.pem" }
    /// Scheme, host and port, without a slash.
    public var origin: String { "\(scheme)://localhost:\(port)" }
    /// The URL of its root.
    public var url: String { origin + "/" }

    /// Starts a server and waits until it listens.
    ///
    /// - Parameters:
    ///   - directory: The folder of an earlier server, which this one replaces.
    ///   - names: The names in its certificate; see ``TestCertificates``.
    ///   - arguments: More arguments for nghttpd.
    public init(
        isTLS: Bool = true, port: Int? = nil, directory: TemporaryDirectory? = nil, names: String = TestCertificates.localNames,
        arguments: [String] = []
    ) async throws {
        let folder = try directory ?? TemporaryDirectory()
        let (certificate, key) = (folder.path + "/server.pem", folder.path + "/server.key")
        if directory == nil {
            if isTLS {
                try await TestCertificates.make(
                    authority: folder.path + "/ca.pem", certificate: certificate, key: key, folder: folder.path, names: names)
            }
            try Data("file".utf8).write(to: URL(fileURLWithPath: folder.path + "/file.txt"))
        }
        let files = isTLS ? [key, certificate] : []
        let options =
            ["--address=\(Self.address)", "--htdocs=\(folder.path)", "--echo-upload"] + (isTLS ? [] : ["--no-tls"]) + arguments
        self.directory = folder
        scheme = isTLS ? "https" : "http"
        (self.port, process) = try await Self.start(options, files: files, port: port, log: folder.path + "/nghttpd.log")
    }

    /// Starts the server on a port. A free port may be taken before the server binds it; then another one is tried.
    private static func start(
        _ options: [String], files: [String], port wanted: Int?, log: String
    ) async throws -> (port: Int, process: GuardedProcess) {
        try await eventually("nghttpd listens") {
            let port = try wanted ?? FreePort.find()
            try Data().write(to: URL(fileURLWithPath: log))
            // It prints that it listens only with -v, and without stdbuf that line would stay in its buffer.
            let process = try GuardedProcess(
                ["/usr/bin/stdbuf", "-oL", "/usr/sbin/nghttpd", "-v"] + options + ["\(port)"] + files, log: log)
            let isListening = try await eventually("nghttpd listens or ends") { () -> Bool? in
                let text = try String(contentsOfFile: log, encoding: .utf8)
                if text.contains("listen \(address):\(port)") { return true }
                return process.isRunning ? nil : false
            }
            return isListening ? (port, process) : nil
        }
    }
}
