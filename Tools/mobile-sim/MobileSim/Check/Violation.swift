/// Something that must never be the case on a phone.
struct Violation: Codable, Sendable, Equatable {
    /// The rule that must hold.
    enum Rule: String, Codable, CaseIterable, Sendable {
        case endedTwice = "an order or a session ends once in a process"
        case endChanged = "an order or a session ends the same way in each process"
        case toldAgain = "the app does not get an end again that it has acknowledged"
        case neverEnded = "an order or a session ends"
        case pending = "nothing is pending after 24 hours"
        case leakedFile = "no file is left"
        case presented = "no push is presented about the conversation on the screen"
        case handedBack = "a notification is handed back to the system once"
        case badge = "the badge is not negative"
        case wrongAccount = "no result comes under another account"
        case stranger = "another person's face does not sign in"
        case liveness = "photos in another order than that of a challenge do not pass, and those in its order do"
        case start = "the app starts"
    }

    let rule: Rule
    let phone: Int
    let seed: UInt64
    /// The observation that breaks it.
    let text: String
    /// The last events of the phone before it.
    let events: [EventLog.Entry]

    /// The violation as text, with the events.
    var lines: [String] {
        let minutes = events.map { "    \(Self.clock($0.at))  process \($0.process)  \($0.text)" }
        return [
            "VIOLATION on phone \(phone), seed \(seed): \(text)", "  must hold: \(rule.rawValue)", "  its last \(events.count) events:",
        ]
            + minutes
    }

    private static func clock(_ seconds: Double) -> String {
        let text = "\(Int(seconds * 10) % 600)"
        let padded = String(repeating: "0", count: max(0, 3 - text.count)) + text
        return "\(Int(seconds) / 60):\(padded.prefix(2)).\(padded.suffix(1))"
    }
}
