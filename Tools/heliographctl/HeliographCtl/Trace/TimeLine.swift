internal import Accounts
internal import CommandLineSupport
internal import EventBus
internal import FoundationEssentials
internal import Pictures
internal import Push
internal import WireFormat

/// The steps of a request in the order in which they happened, followed by the open ones.
struct TimeLine {
    /// A step that happened, or one that is still open.
    struct Step: Sendable {
        enum State: String { case done, failed, open }

        /// Time of the step; of an open step, the time since which it is due.
        let at: Date
        let state: State
        /// The kind of step: http, session, image job, call, event, handled, notification or delivery.
        let kind: String
        let text: String
    }

    /// The `X-Request-ID`; nil when it is not known.
    let requestID: String?
    let now: Date
    /// The finished steps by time, then the open ones.
    let steps: [Step]

    init(_ trace: RequestTrace, requestID: String?, now: Date) {
        self.requestID = requestID
        self.now = now
        let steps =
            Self.request(trace) + trace.sessions.flatMap(Self.steps(of:)) + trace.imageJobs.flatMap(Self.steps(of:))
            + trace.appNotifications.flatMap(Self.steps(of:)) + trace.messages.flatMap(Self.steps(of:))
            + trace.notifications.flatMap(Self.steps(of:))
            + trace.deliveries.flatMap(Self.steps(of:))
        // Steps of one transaction have the same time: they keep the order in which they are listed here.
        let ordered = steps.enumerated().sorted { left, right in
            let keys = (left.element.state == .open ? 1 : 0, right.element.state == .open ? 1 : 0)
            return keys.0 != keys.1 ? keys.0 < keys.1 : (left.element.at, left.offset) < (right.element.at, right.offset)
        }
        self.steps = ordered.map(\.element)
    }

    var start: Date? { steps.first?.at }
    var openCount: Int { steps.count { $0.state == .open } }

    /// The state of the request, in a sentence.
    var summary: String {
        let failed = steps.count { $0.state == .failed }
        let last = steps.last { $0.state != .open }
        let took = start.flatMap { start in last.map { Self.milliseconds(from: start, to: $0.at) } } ?? 0
        let failures = failed == 0 ? "" : ", \(failed) failed"
        guard openCount == 0 else { return "\(HumanUnits.count(openCount, "step")) open\(failures), \(took) ms so far." }
        return "Everything has ended\(failures), after \(took) ms."
    }

    static func milliseconds(from start: Date, to end: Date) -> Int {
        Int((end.timeIntervalSince(start) * 1000).rounded())
    }

    private static func request(_ trace: RequestTrace) -> [Step] {
        let records =
            trace.messages.map(\.createdAt) + trace.sessions.map(\.createdAt) + trace.imageJobs.map(\.job.createdAt)
            + trace.appNotifications.map(\.createdAt)
        // A notification alone does not say when its request was made.
        guard let at = records.min() else { return [] }
        return [Step(at: at, state: .done, kind: "http", text: "identity-api accepted the request")]
    }

    private static func steps(of message: OutboxRecord) -> [Step] {
        func step(_ at: Date, _ state: Step.State, _ kind: String, _ text: String) -> Step {
            Step(at: at, state: state, kind: kind, text: "\(message.stream) \(text)")
        }
        var steps = [step(message.createdAt, .done, "event", "committed to the outbox")]
        if let at = message.publishedAt, message.state != .waiting {
            let times = message.publications > 1 ? ", publication \(message.publications): the stream had lost it" : ""
            steps.append(step(at, .done, "event", "published as \(message.entryID ?? "?")\(times)"))
        }
        for handling in message.handlings {
            guard let at = handling.handledAt else { continue }
            steps.append(
                handling.isDead
                    ? step(at, .failed, "handled", "dead letter of \(handling.group): heliographctl dlq list \(message.stream)")
                    : step(at, .done, "handled", "by \(handling.group)"))
        }
        let missing = message.handlings.filter { $0.handledAt == nil }.map(\.group).joined(separator: ", ")
        switch message.state {
        case .waiting: steps.append(step(message.createdAt, .open, "event", "waits for the relay"))
        case .published where !missing.isEmpty:
            steps.append(step(message.publishedAt ?? message.createdAt, .open, "handled", "waits for \(missing)"))
        case .expired:
            steps.append(step(message.settledAt ?? message.createdAt, .failed, "event", "lost by the stream after its expiry"))
        case .published, .confirmed: break
        }
        return steps
    }
}
