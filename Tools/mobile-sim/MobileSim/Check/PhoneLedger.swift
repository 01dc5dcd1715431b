internal import Foundation
internal import MobileClient

/// The orders of one phone's app and the ends that the client has reported for them, over all of its processes; finds violations.
struct PhoneLedger: Sendable {
    typealias Finding = (rule: Violation.Rule, text: String)

    /// How often, and with which outcome, the client has given the app the end of an order or a session.
    struct Ends: Sendable, Equatable {
        /// Process and outcome, in the order in which the app got them.
        private(set) var told: [(process: Int, outcome: String)] = []
        /// Whether the app has acknowledged the end.
        var isAcknowledged = false
        /// The person has signed out meanwhile: it may end by that, without a report.
        var isAbandoned = false

        /// The largest number of ends that one process got for it.
        var perProcess: Int { Dictionary(grouping: told, by: \.process).values.map(\.count).max() ?? 0 }

        static func == (one: Ends, other: Ends) -> Bool {
            one.told.elementsEqual(other.told, by: ==) && one.isAcknowledged == other.isAcknowledged
                && one.isAbandoned == other.isAbandoned
        }

        mutating func tell(_ outcome: String, in process: Int, _ name: String) -> [Finding] {
            defer { told.append((process, outcome)) }
            if told.contains(where: { $0.process == process }) {
                return [(.endedTwice, "\(name) ended again in process \(process), as \(outcome)")]
            }
            if isAcknowledged { return [(.toldAgain, "The app got the end of \(name) again, as \(outcome)")] }
            if let first = told.first, first.outcome != outcome {
                return [(.endChanged, "\(name) ended as \(first.outcome) in process \(first.process), and as \(outcome) in \(process)")]
            }
            return []
        }
    }

    struct Order: Sendable {
        /// The account that ordered; nil where the process ended before the app knew its order.
        var account: String?
        var orderedAt: Date?
        var ends = Ends()
    }

    struct Session: Sendable {
        var kind: String
        /// The person whom it may sign in; nil for the person whom the API names, and an empty text if it may sign in no person.
        var expectedUser: String?
        /// How a challenge was answered; nil for a session without one, and where the process ended before that was noted.
        var poses: ShownPoses?
        var ends = Ends()
    }

    private(set) var orders: [UUID: Order] = [:]
    private(set) var sessions: [UUID: Session] = [:]

    /// The orders and sessions whose end the app does not know.
    var open: Int {
        orders.values.count { $0.ends.told.isEmpty && !$0.ends.isAbandoned }
            + sessions.values.count { $0.ends.told.isEmpty && !$0.ends.isAbandoned }
    }

    // MARK: Orders

    mutating func ordered(_ id: UUID, by account: String?, at date: Date) {
        orders[id, default: Order()].account = account
        orders[id]?.orderedAt = date
    }

    /// - Parameter current: The account that is signed in now.
    mutating func orderEnded(_ id: UUID, as outcome: String, in process: Int, current: String?) -> [Finding] {
        var order = orders[id] ?? Order()
        var findings = order.ends.tell(outcome, in: process, "Order \(id)")
        if let account = order.account, outcome != "cancelled", account != current {
            findings.append(
                (.wrongAccount, "Order \(id) of account \(account) ended as \(outcome) while \(current ?? "no account") was signed in"))
        }
        orders[id] = order
        return findings
    }

    mutating func orderAcknowledged(_ id: UUID) { orders[id]?.ends.isAcknowledged = true }

    // MARK: Sessions

    mutating func sessionBegan(_ id: UUID, _ kind: String, for user: String?, showing poses: ShownPoses? = nil) {
        sessions[id] = sessions[id] ?? Session(kind: kind, expectedUser: user, poses: poses)
    }

    /// - Parameters:
    ///   - user: The person who was signed in; nil without a signed-in person.
    ///   - liveness: The result of the check for a live person; nil without a check.
    mutating func sessionEnded(
        _ id: UUID, as outcome: String, user: String?, liveness: EKYCSession.Liveness? = nil, in process: Int
    ) -> [Finding] {
        var session = sessions[id] ?? Session(kind: "unknown")
        var findings = session.ends.tell(outcome, in: process, "Session \(id)")
        if let user, let expected = session.expectedUser, user != expected {
            findings.append(
                expected.isEmpty
                    ? (.stranger, "Session \(id) signed \(user) in with another person's face")
                    : (.wrongAccount, "Session \(id) of \(expected) signed \(user) in"))
        }
        if let poses = session.poses, liveness == (poses == .asAsked ? .failed : .passed) {
            findings.append((.liveness, "Session \(id) shows \(poses.rawValue), and its liveness is \(liveness?.rawValue ?? "")"))
        }
        sessions[id] = session
        return findings
    }

    mutating func sessionAcknowledged(_ id: UUID) { sessions[id]?.ends.isAcknowledged = true }

    // MARK: Ends

    /// The person signs out: open orders and sessions may end without a report.
    mutating func abandon() {
        for id in orders.keys where orders[id]?.ends.told.isEmpty == true { orders[id]?.ends.isAbandoned = true }
        for id in sessions.keys where sessions[id]?.ends.told.isEmpty == true { sessions[id]?.ends.isAbandoned = true }
    }

    /// The sessions of an earlier process whose end the app did not get and cannot get any more, because they are not pending.
    ///
    /// - Parameter open: The sessions whose end the app did not know before it asked for the pending ones.
    mutating func forgotten(_ open: [UUID], besides pending: Set<UUID>) -> [Finding] {
        let missing = Set(openSessions).intersection(open).subtracting(pending)
        return missing.map { id in
            sessions[id]?.ends.isAbandoned = true
            return (.neverEnded, "Session \(id) is not pending any more, and the app did not get its outcome")
        }
    }

    /// The sessions that the app has begun and whose end it did not get.
    var openSessions: [UUID] { sessions.filter { $0.value.ends.told.isEmpty && !$0.value.ends.isAbandoned }.map(\.key) }

    /// The violations at the end of a run.
    func findings(pendingOrders: [UUID], pendingSessions: [UUID]) -> [Finding] {
        var findings: [Finding] = pendingOrders.map { (.pending, "Order \($0) is pending") }
        findings += pendingSessions.map { (.pending, "Session \($0) is pending") }
        for (id, order) in orders where order.ends.told.isEmpty && !order.ends.isAbandoned {
            findings.append((.neverEnded, "Order \(id) never ended"))
        }
        for (id, session) in sessions where session.ends.told.isEmpty && !session.ends.isAbandoned {
            findings.append((.neverEnded, "Session \(id) (\(session.kind)) never ended"))
        }
        return findings
    }
}
