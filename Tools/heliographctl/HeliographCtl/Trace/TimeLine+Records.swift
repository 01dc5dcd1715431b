internal import Accounts
internal import CommandLineSupport
internal import FoundationEssentials
internal import Pictures
internal import Push
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
            // A refused face is a regular decision; an expired session is a failure.
            steps.append(step(at, session.state == .expired ? .failed : .done, session.state.rawValue + reason))
        } else {
            let limit = HumanUnits.timestamp(session.deadlineAt)
            steps.append(step(session.startedAt ?? session.createdAt, .open, "waits for the decision, until \(limit)"))
        }
        return steps
    }

    static func steps(of traced: RequestTrace.TracedImageJob) -> [Step] {
        let job = traced.job
        func step(_ at: Date, _ state: Step.State, _ text: String) -> Step {
            Step(at: at, state: state, kind: "image job", text: "\(job.templateID) \(job.id.wireString) \(text)")
        }
        var steps = [step(job.createdAt, .done, "received")]
        if let at = job.startedAt { steps.append(step(at, .done, "taken by image-worker")) }
        steps += traced.attempts.flatMap { Self.steps(of: $0, isOpen: job.completedAt == nil) }
        if let at = job.completedAt {
            let reason = job.failure.map { " (\($0.code))" } ?? ""
            // A refused picture is a regular outcome.
            let isFailure = job.status == .failed && ![.contentBlocked, .invalidImage].contains(job.failure?.code)
            steps.append(step(at, isFailure ? .failed : .done, job.status.rawValue + reason))
        } else if job.deletedAt == nil {
            let limit = HumanUnits.timestamp(job.deadlineAt)
            steps.append(step(job.startedAt ?? job.createdAt, .open, "\(job.percent) % done, has time until \(limit)"))
        }
        if let at = job.deletedAt { steps.append(step(at, .done, "deleted by its user")) }
        return steps
    }

    private static func steps(of attempt: ImageAttempt, isOpen: Bool) -> [Step] {
        func step(_ at: Date, _ state: Step.State, _ text: String) -> Step {
            Step(at: at, state: state, kind: "call", text: "\(attempt.generator) attempt \(attempt.number) \(text)")
        }
        let started = step(attempt.startedAt, .done, "started")
        guard let outcome = attempt.outcome, let at = attempt.finishedAt else {
            return [started, step(attempt.startedAt, isOpen ? .open : .failed, isOpen ? "in flight" : "never ended: its worker died")]
        }
        return [started, step(at, .done, "ended: \(outcome.name)")]
    }

    static func steps(of notification: AppNotification) -> [Step] {
        func step(_ state: Step.State, _ text: String) -> Step {
            let what = "\(notification.kind) \(notification.id.wireString) \(text)"
            return Step(at: notification.createdAt, state: state, kind: "notification", text: what)
        }
        let recipients = HumanUnits.count(notification.accepted, "recipient")
        let made = step(.done, "requested by the server of the app \(notification.app), for \(recipients)")
        switch notification.state {
        case .scheduled: return [made, step(.open, "waits until \(HumanUnits.timestamp(notification.notBefore))")]
        case .cancelled: return [made, step(.done, "cancelled before it was due")]
        case .requested where notification.hasNoRecipient: return [made, step(.done, "skipped (\(SkipReason.noRecipient.rawValue))")]
        case .requested: return [made]
        }
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
            let attempts = HumanUnits.count(delivery.attempt, "attempt")
            let isFailure = delivery.state == .failed || delivery.state == .expired
            return [made, step(at, isFailure ? .failed : .done, "\(delivery.state.rawValue)\(code) after \(attempts)")]
        }
        let what =
            delivery.state == .sending
            ? "is being sent, attempt \(delivery.attempt)"
            : "waits for attempt \(delivery.attempt + 1)\(code)\(delivery.dueAt.map { ", due \(HumanUnits.timestamp($0))" } ?? "")"
        return [made, step(delivery.createdAt, .open, what)]
    }
}
