internal import CommandLineSupport
internal import FoundationEssentials
internal import Push
internal import WireFormat

/// One answer about some pushes: a sentence and a remedy.
struct PushFinding {
    /// The event, as one sentence.
    let sentence: String
    /// The remedy for the operator.
    let remedy: String
    /// The stored code of the reason; nil for a push that was shown, or is on its way.
    var code: String?
    /// The only user that it is about; nil for the installations of several users.
    var userID: UUID?
    /// The number of phones, or of users.
    var count = 1

    init(_ sentence: String, remedy: String, code: String? = nil, userID: UUID? = nil, count: Int = 1) {
        self.sentence = sentence
        self.remedy = remedy
        self.code = code
        self.userID = userID
        self.count = count
    }

    /// Describes a notification that has no delivery, or is not addressed yet.
    init?(_ notification: NotificationRecord) {
        switch notification.state {
        case .requested:
            self.init(
                "token-registry has not looked for its phones yet.",
                remedy: "Look at notification.requested with `heliographctl streams`: is token-registry running?")
        case .skipped: self.init(skipped: notification.skipReason ?? "unknown")
        case .addressed, .settled: return nil
        }
    }

    /// Describes a notification that has deliveries, but no delivery to the user in question.
    static func noDelivery(of notification: UUID) -> PushFinding {
        PushFinding(
            "It has no delivery to a phone of this user.",
            remedy: "Ask for what became of it: `heliographctl push why \(notification.wireString)`.")
    }

    /// Describes a notification that reached no phone, by the code of the reason.
    init(skipped code: String) {
        let reason = SkipReason(rawValue: code).map(PushReason.of) ?? PushReason("of \(code.printable)", remedy: PushReason.nothingToDo)
        self.init("It was sent to no phone, because \(reason.cause).", remedy: reason.remedy, code: code)
    }

    /// Describes deliveries with the same outcome.
    ///
    /// - Parameter receipts: The phones' receipts for the notification.
    init(_ outcome: PushOutcome, receipts: [Receipt.Event: Int]) {
        let phones = HumanUnits.count(outcome.count, "phone")
        let reason = outcome.code.map { PushReason.of($0, in: outcome.state) }
        let because = reason.map { ", because \($0.cause)" } ?? ""
        switch outcome.state {
        case .accepted:
            self.init(accepted: phones, receipts)
        case .pending, .sending:
            let due = outcome.dueAt.map { ", until \($0.formatted(.iso8601))" } ?? ""
            let does = outcome.state == .pending ? "It waits for a notifier" : "A notifier is sending it"
            self.init(
                "\(does), to \(phones)\(due)\(because).",
                remedy: reason?.remedy ?? "Look at notification.addressed with `heliographctl streams`: is notifier running?")
        case .skipped: self.init("It was not sent to \(phones)\(because).", remedy: reason?.remedy ?? PushReason.nothingToDo)
        case .expired: self.init("It had no time left for \(phones)\(because).", remedy: reason?.remedy ?? PushReason.nothingToDo)
        case .dead, .failed: self.init("FCM did not take it for \(phones)\(because).", remedy: reason?.remedy ?? PushReason.nothingToDo)
        }
        code = outcome.code
        count = outcome.count
    }

    private init(accepted phones: String, _ receipts: [Receipt.Event: Int]) {
        let reports = Receipt.Event.allCases.compactMap { event in receipts[event].map { "\(event.rawValue) \($0)" } }
        if receipts[.suppressed] != nil {
            self.init(
                "FCM took it for \(phones), and an app did not show it because it had its subject on the screen "
                    + "(receipts: \(reports.joined(separator: ", "))).", remedy: PushReason.nothingToDo)
        } else if reports.isEmpty {
            self.init(
                "FCM took it for \(phones), and no phone has reported that it arrived.",
                remedy: "Check that the phone is online and allows the app's notifications (on Android those of the channel), and that "
                    + "the app sends receipts.")
        } else {
            self.init("FCM took it for \(phones) (receipts: \(reports.joined(separator: ", "))).", remedy: PushReason.nothingToDo)
        }
    }

    /// Describes a member of the topic to whom it was not addressed.
    ///
    /// - Parameter requestedAt: When the notification was requested.
    init(_ member: UnaddressedMember, requestedAt: Date) {
        let reason = UnaddressedReason(member, requestedAt: requestedAt)
        let explanation = reason.explanation
        let phones = member.installs.map(\.state.rawValue).sorted().joined(separator: ", ")
        let states = reason == .noInstallation && !phones.isEmpty ? ": \(phones)" : ""
        self.init(
            "It was not sent, because \(explanation.cause)\(states).", remedy: explanation.remedy, code: reason.rawValue,
            userID: member.userID)
    }
}
