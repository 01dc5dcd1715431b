public import AsyncPrimitives
import Synchronization

/// Runs the readiness checks and the liveness checks of a service. It reports the service unready while it shuts down.
public final class HealthRegistry: Sendable {
    /// Throws when the check fails.
    public typealias Check = @Sendable () async throws -> Void

    /// The readiness of this instance.
    public struct Report: Sendable {
        /// The names of all checks.
        let checks: Set<String>
        /// The failed checks by name, with their errors; empty when the service is ready.
        public let failures: [String: String]
        /// Whether every check of readiness has passed.
        public var isReady: Bool { failures.isEmpty }
    }

    /// Age up to which ``recentReport()`` returns the last report: shorter than the interval of scrapes.
    static let recentAge: Duration = .seconds(5)

    /// Timeout after which a check counts as failed.
    public let checkTimeout: Duration
    private struct State {
        var readiness: [String: Check] = [:]
        var liveness: [String: Check] = [:]
        var isDraining = false
        var last: (report: Report, time: ContinuousClock.Instant)?
    }
    private let state = Mutex(State())
    private let clock: any MonotonicClock

    /// Creates a registry without checks.
    ///
    /// - Parameter clock: measures the age of the last report.
    public init(checkTimeout: Duration = .seconds(2), clock: any MonotonicClock = ContinuousClock()) {
        self.checkTimeout = checkTimeout
        self.clock = clock
    }

    /// Adds a check of readiness, or replaces the one of that name. It fails while a dependency cannot be used.
    public func register(_ name: String, _ check: @escaping Check) {
        state.withLock { $0.readiness[name] = check }
    }

    /// Adds a check of liveness, or replaces the one of that name. When it fails, the instance is restarted.
    ///
    /// It asks only the state of this process. An outage of Redis or Postgres must not fail it, because that would restart every
    /// instance in vain.
    public func registerLiveness(_ name: String, _ check: @escaping Check) {
        state.withLock { $0.liveness[name] = check }
    }

    /// Makes the service unready for good, so that it gets no new work while it finishes its present work.
    public func beginDraining() {
        state.withLock { state in
            state.isDraining = true
            state.last = nil
        }
    }

    /// Runs all checks of readiness at once, each within ``checkTimeout``.
    public func report() async -> Report {
        let (checks, isDraining) = state.withLock { ($0.readiness, $0.isDraining) }
        if isDraining { return Report(checks: ["lifecycle"], failures: ["lifecycle": "shutting down"]) }
        let report = Report(checks: Set(checks.keys), failures: await failures(of: checks))
        let now = clock.now
        state.withLock { state in
            if !state.isDraining { state.last = (report, now) }
        }
        return report
    }

    /// Returns the last report of readiness, or a new one when that is older than five seconds.
    func recentReport() async -> Report {
        let now = clock.now
        if let last = state.withLock({ $0.last }), now - last.time < Self.recentAge { return last.report }
        return await report()
    }

    /// Runs all checks of liveness at once, each within ``checkTimeout``.
    ///
    /// - Returns: The failed checks by name, with their errors; empty when the instance is alive.
    public func livenessFailures() async -> [String: String] { await failures(of: state.withLock { $0.liveness }) }

    /// Readiness in the text format of `GET /metrics`: `readiness_check_up{check}` is 1 or 0, of a report of the last five seconds.
    func exposition() async -> String {
        let report = await recentReport()
        let series = report.checks.sorted().map { check in
            (PrometheusText.labels([("check", check)]), report.failures[check] == nil ? 1 : 0)
        }
        return PrometheusText.gauge("readiness_check_up", series)
    }

    private func failures(of checks: [String: Check]) async -> [String: String] {
        let timeout = checkTimeout
        return await withTaskGroup(of: (String, String?).self) { group in
            for (name, check) in checks {
                group.addTask { (name, await Self.run(check, within: timeout)) }
            }
            var failures: [String: String] = [:]
            for await (name, failure) in group { failures[name] = failure }
            return failures
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
