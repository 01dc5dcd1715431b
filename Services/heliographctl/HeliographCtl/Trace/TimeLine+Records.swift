internal import FoundationEssentials
internal import Storage
internal import WireFormat

extension TimeLine {
    static func steps(of session: Session) -> [Step] {
        func step(_ at: Date, _ state: Step.State, _ text: String) -> Step {
            Step(at: at, state: state, kind: "session", text: "\(session.event.rawValue) \(session.id.wireString) \(text)")
        }
        var steps = [step(session.createdAt, .done, "received")]
        if let at = session.startedAt { steps.append(step(at, .done, "taken by face-matching-worker")) }
        if let at = session.completedAt {
            let reason = session.reason.map { " (\($0.rawValue))" } ?? ""
            // A refused face is a decision like any other; a session that nobody decided is not.
            steps.append(step(at, session.state == .expired ? .failed : .done, session.state.rawValue + reason))
        } else {
            let limit = HumanUnits.timestamp(session.deadlineAt)
            steps.append(step(session.startedAt ?? session.createdAt, .open, "waits for the decision, until \(limit)"))
        }
        return steps
    }

    static func steps(of notification: NotificationRecord) -> [Step] {
        func step(_ at: Date, _ state: Step.State, _ text: String) -> Step {
            Step(at: at, state: state, kind: "notification", text: "\(notification.kind.rawValue) \(notification.id.wireString) \(text)")
        }
        let made = step(notification.createdAt, .done, "for a \(notification.recipient.type.rawValue), lane \(notification.lane.rawValue)")
        guard let at = notification.settledAt else {
            return [made, step(notification.createdAt, .open, "is \(notification.state.rawValue), not settled")]
        }
        let reason = notification.skipReason.map { " (\($0))" } ?? ""
        return [made, step(at, .done, notification.state.rawValue + reason)]
    }

    static func steps(of delivery: Delivery) -> [Step] {
        func step(_ at: Date, _ state: Step.State, _ text: String) -> Step {
            Step(at: at, state: state, kind: "delivery", text: "\(delivery.id.wireString) \(text)")
        }
        let made = step(delivery.createdAt, .done, "addressed to installation \(delivery.installID.wireString)")
        let code = delivery.code.map { " (\($0))" } ?? ""
        if let at = delivery.settledAt {
            let tries = HumanUnits.count(delivery.attempt, "try").replacing("trys", with: "tries")
            let isFailure = delivery.state == .failed || delivery.state == .expired
            return [made, step(at, isFailure ? .failed : .done, "\(delivery.state.rawValue)\(code) after \(tries)")]
        }
        let what =
            delivery.state == .sending
            ? "is being sent, try \(delivery.attempt)"
            : "waits for try \(delivery.attempt + 1)\(code), due \(HumanUnits.timestamp(delivery.nextAt))"
        return [made, step(delivery.createdAt, .open, what)]
    }
}
