import Foundation

/// The program of the servers: Debian's `redis-server`, or what `REDIS_SERVER` names, such as Valkey's.
extension RedisServer {
    static let program = ProcessInfo.processInfo.environment["REDIS_SERVER"].flatMap { $0.isEmpty ? nil : $0 } ?? "redis-server"

    /// Whether the program is Valkey.
    public static var isValkey: Bool {
        get async throws { try await CommandLineTool.run([program, "--version"]).hasPrefix("Valkey") }
    }

    /// Whether the program was built with TLS; the Valkey of `deploy/local/fetch-valkey.sh` was not.
    public static var hasTLS: Bool {
        get async throws {
            do {
                try await CommandLineTool.run([program, "--port", "0", "--tls-port", "1"])
            } catch let failure as CommandLineTool.Failure {
                // With TLS it ends for want of a certificate.
                return !failure.output.contains("Failed finding TLS support")
            }
            return true
        }
    }
}
