public import AsyncPrimitives
public import Logging
import ServiceLifecycle

/// Repeats `body` until graceful shutdown; a failure is logged and does not end the repetition.
///
/// - Parameters:
///   - what: Name of the task in the log, such as "reading the memory of Redis".
///   - interval: The pause after each run.
public func periodically(
    _ what: String, every interval: Duration, logger: Logger, clock: any MonotonicClock = ContinuousClock(),
    _ body: @escaping @Sendable () async throws -> Void
) async {
    await cancelWhenGracefulShutdown {
        while !Task.isCancelled {
            do {
                try await body()
            } catch {
                if !Task.isCancelled { logger.warning("\(what) failed", metadata: ["error": "\(error)"]) }
            }
            try? await clock.sleep(for: interval)
        }
    }
}
