package import Hummingbird
package import HummingbirdCore
package import Logging
import NIOCore

/// One listening socket and the server behind it.
package struct Listener: Sendable {
    /// The port that was bound.
    package let port: Int
    private let task: Task<Void, any Error>

    /// Binds and serves; returns once connections are accepted.
    package static func start(
        _ router: Router<EmulatorContext>, server: HTTPServerBuilder, host: String, port: Int, logger: Logger
    ) async throws(FCMEmulatorError) -> Listener {
        let (ports, found) = AsyncThrowingStream.makeStream(of: Int.self)
        // Errors of the start are thrown; the errors that Hummingbird logs at shutdown are only connections being closed.
        var serverLogger = logger
        serverLogger.logLevel = .critical
        let application = Application(
            router: router, server: server,
            configuration: ApplicationConfiguration(address: .hostname(host, port: port)),
            onServerRunning: { channel in found.yield(channel.localAddress?.port ?? port) }, logger: serverLogger)
        let task = Task {
            do {
                try await application.run()
                found.finish()
            } catch {
                found.finish(throwing: error)
                throw error
            }
        }
        do {
            for try await bound in ports { return Listener(port: bound, task: task) }
        } catch {
            throw FCMEmulatorError(.cannotListen, "cannot listen on \(host):\(port)", underlying: error)
        }
        throw FCMEmulatorError(.cannotListen, "cannot listen on \(host):\(port)")
    }

    /// Closes the socket and ends the requests in progress.
    package func stop() async {
        task.cancel()
        _ = await task.result
    }
}
