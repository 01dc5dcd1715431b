public import Logging
import ServiceLifecycle

/// Does something again and again until graceful shutdown. What fails is logged, and the next time comes all the same.
///
/// - Parameters:
///   - what: What it is, for the log.
///   - interval: The pause after each time.
public func periodically(
    _ what: String, every interval: Duration, logger: Logger, _ body: @escaping @Sendable () async throws -> Void
) async {
    await cancelWhenGracefulShutdown {
        while !Task.isCancelled {
            do {
                try await body()
            } catch {
                if !Task.isCancelled { logger.warning("\(what) failed", metadata: ["error": "\(error)"]) }
            }
            try? await Task.sleep(for: interval)
        }
    }
}
