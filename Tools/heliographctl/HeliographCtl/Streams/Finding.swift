internal import CommandLineSupport
internal import EventBus

/// Something that is not normal, with what to do about it.
struct Finding: Sendable, Equatable {
    /// Whether it needs attention now; otherwise it may pass by itself.
    let isProblem: Bool
    let text: String

    var emphasis: Emphasis { isProblem ? .alarm : .warning }

    var json: JSONRecord { ["is_problem": isProblem, "text": text] }
}

extension BusSnapshot {
    /// The normal range of the figures.
    static let normal = """
        Normal: UNDELIVERED and PENDING fall back to 0, OLDEST stays under \(HumanUnits.age(Thresholds.ageWarning)), RETRY and DEAD are 0, \
        each group has a consumer, and the outbox waits for under \(HumanUnits.age(Thresholds.ageWarning)). LENGTH counts settled \
        entries too.
        """

    /// The findings that are not normal, in the order of the table.
    var findings: [Finding] { findings(exceptUnreadOf: []) }

    /// The findings that are not normal, except groups without a consumer whose service does not run: the caller has reported those.
    func findings(exceptUnreadOf services: Set<String>) -> [Finding] {
        [unread(except: services)].compactMap { $0 } + rows.flatMap(Self.findings(of:)) + [retrying, outboxWaits].compactMap { $0 }
    }

    /// The groups without a living consumer; nil when each has one.
    private func unread(except services: Set<String>) -> Finding? {
        let unread = rows.filter { row in row.group.map { !services.contains($0) } ?? false && row.status.livingConsumers.isEmpty }
        guard !unread.isEmpty else { return nil }
        var services: [String] = []
        for case let group? in unread.map(\.group) where !services.contains(group) { services.append(group) }
        return Finding(
            isProblem: unread.contains { $0.backlog > 0 },
            text: "No consumer reads for \(services.joined(separator: ", ")): start the service, or see in its log why it ended.")
    }

    private static func findings(of row: Row) -> [Finding] {
        guard let group = row.group else { return [] }
        var found: [Finding] = []
        if let age = row.oldestAge, age >= Thresholds.ageWarning {
            found.append(
                Finding(
                    isProblem: age >= Thresholds.ageAlarm,
                    text: "\(row.stream): the oldest of \(row.backlog) has waited for \(HumanUnits.age(age)). Start more instances of "
                        + "\(group), or see in its log what it waits for; `heliographctl top` shows whether it settles anything."))
        }
        if row.deadLetters.count > 0 {
            found.append(
                Finding(
                    isProblem: true,
                    text: "\(HumanUnits.count(row.deadLetters.count, "dead letter")) of \(row.stream): `heliographctl dlq list "
                        + "\(row.stream)` says why. Fix the cause, then `dlq redrive` them, or `dlq drop` those that are not needed."))
        }
        return found
    }

    private var retrying: Finding? {
        let retrying = rows.filter { $0.status.retrying > 0 }
        guard !retrying.isEmpty else { return nil }
        let streams = retrying.map { "\($0.status.retrying) of \($0.stream)" }.joined(separator: ", ")
        return Finding(
            isProblem: false, text: "Failed, and tried again by itself: \(streams). If that number grows, the log of the group says why.")
    }

    private var outboxWaits: Finding? {
        guard let age = outbox.oldestWaitingAge, age >= Thresholds.ageWarning else { return nil }
        return Finding(
            isProblem: age >= Thresholds.ageAlarm,
            text: "The outbox has waited for the relay for \(HumanUnits.age(age)). Each service relays: see whether one runs and reaches "
                + "Redis (`heliographctl status`), and whether Redis is full (its log says OOM).")
    }
}
