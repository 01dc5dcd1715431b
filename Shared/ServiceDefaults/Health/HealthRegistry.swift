import Synchronization

/// Runs the readiness checks of a service, and reports it unready while it shuts down.
public final class HealthRegistry: Sendable {
    /// Throws when the checked dependency cannot be used.
    public typealias Check = @Sendable () async throws -> Void

    /// The readiness of this instance.
    public struct Report: Sendable {
        /// The failed checks by name, with their errors; empty when the service is ready.
        public let failures: [String: String]
        public var isReady: Bool { failures.isEmpty }
    }

    /// Timeout after which a check counts as failed.
    public let checkTimeout: Duration
    private struct State {
        var checks: [String: Check] = [:]
        var isDraining = false
    }
    private let state = Mutex(State())

    public init(checkTimeout: Duration = .seconds(2)) { self.checkTimeout = checkTimeout }

    /// Adds a check, or replaces the one of that name.
    public func register(_ name: String, _ check: @escaping Check) {
        state.withLock { $0.checks[name] = check }
    }

    /// Makes the service unready for good, so that it gets no new work while it finishes what it has.
    public func beginDraining() { state.withLock { $0.isDraining = true } }

    /// Runs all checks at once, each within ``checkTimeout``.
    public func report() async -> Report {
        let (checks, isDraining) = state.withLock { ($0.checks, $0.isDraining) }
        if isDraining { return Report(failures: ["lifecycle": "shutting down"]) }
        let timeout = checkTimeout
        return await withTaskGroup(of: (String, String?).self) { group in
            for (name, check) in checks {
                group.addTask { (name, await Self.run(check, within: timeout)) }
            }
            var failures: [String: String] = [:]
            for await (name, failure) in group { failures[name] = failure }
            return Report(failures: failures)
        }
    }

    private static func run(_ check: @escaping Check, within timeout: Duration) async -> String? {
        await withTaskGroup(of: String?.self) { group in
            group.addTask {
                do {
                    try await check()
                    return nil
                } catch {
                    return "\(error)"
                }
            }
            group.addTask {
                try? await Task.sleep(for: timeout)
                return "no answer within \(timeout)"
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
    }
}
