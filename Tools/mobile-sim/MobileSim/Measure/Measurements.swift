internal import Foundation
internal import Synchronization

/// The counts and times over all phones.
final class Measurements: Sendable {
    /// What made the app ask for the state that told the end: the value of `X-Client-Trigger`.
    enum Trigger: String, Codable, CaseIterable, Sendable {
        case push, poll, launch
    }

    struct Contents: Sendable {
        var faults: [FaultCount.Kind: Int] = [:]
        var results: [Trigger: Samples] = [:]
        var sessions: [String: Samples] = [:]
        /// The ends of orders and sessions, by what ended and how.
        var orderEnds: [String: Int] = [:]
        var sessionEnds: [String: Int] = [:]
        /// The sessions that answer a challenge, by the poses that were shown and the result of the check for a live person.
        var challenges: [String: Int] = [:]
        var calls: [String: Int] = [:]
        /// Errors that calls of the client ended with, by code.
        var errors: [String: Int] = [:]
        var pushes: [String: Int] = [:]
        var places: [String: Int] = [:]
        var orders = 0
        var launches = 0
        var requests = 0
        /// The orders and sessions by the number of terminal events that one process got of each.
        var eventsPerOrder: [Int: Int] = [:]
        var eventsPerSession: [Int: Int] = [:]
        /// Orders and ends by minute of the run.
        var ordersByMinute: [Int: Int] = [:]
        var endsByMinute: [Int: Int] = [:]
        var leakedFiles = 0
    }

    private let contents = Mutex(Contents())
    private let start = ContinuousClock.now

    var snapshot: Contents { contents.withLock { $0 } }

    /// The minute of the run.
    var minute: Int { Int((ContinuousClock.now - start) / .seconds(60)) }

    func change(_ body: (inout Contents) -> Void) { contents.withLock { body(&$0) } }

    func count(_ fault: FaultCount.Kind) { contents.withLock { $0.faults[fault, default: 0] += 1 } }

    func call(_ name: String) { contents.withLock { $0.calls[name, default: 0] += 1 } }

    func error(_ code: String) { contents.withLock { $0.errors[code, default: 0] += 1 } }

    func push(_ what: String) { contents.withLock { $0.pushes[what, default: 0] += 1 } }
}
