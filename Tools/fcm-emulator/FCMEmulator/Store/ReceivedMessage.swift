public import FoundationEssentials
public import JSON

/// A message that the emulator has accepted.
public struct ReceivedMessage: Sendable, Equatable {
    /// The name in the answer to it: `projects/{project}/messages/{id}`.
    public let name: String
    /// When it was accepted.
    public let receivedAt: Date
    /// The message, all its fields under their snake_case names.
    public let message: JSONValue
    /// The token or installation id it went to; nil for a topic or condition.
    public let registration: String?
    /// The phone it went to; nil for a topic or condition.
    public let platform: DevicePlatform?

    /// The JSON that the control API shows; for an iPhone with the push that FCM would send to Apple.
    func json(senderID: String) -> JSONValue {
        var json: JSONValue = [:]
        json["name"] = .string(name)
        json["received_at"] = .string(RFC3339.string(receivedAt))
        json["message"] = message
        if platform == .ios { json["apns"] = ApnsView(self, senderID: senderID).json }
        return json
    }
}

/// A message as the inbox keeps it. Most are never read, so messages share one copy of their template and of their registration.
struct KeptMessage: Sendable {
    let name: MessageName
    let receivedAt: Date
    let template: MessageTemplate
    let registration: String?
    let platform: DevicePlatform?
    /// Whether the phone has received it: a phone that is offline receives it later, or never.
    var isOnPhone = true
    /// The number of the message before it to the same registration.
    var previous: Int?

    /// The message, parsed again from its template.
    var received: ReceivedMessage {
        ReceivedMessage(
            name: name.description, receivedAt: receivedAt, message: template.message(to: registration),
            registration: registration, platform: platform)
    }
}

extension Ring<KeptMessage> {
    /// Returns the messages to the registration of the message `last`, newest first, down to a number.
    func chain(from last: Int?, downTo first: Int = 0) -> some Sequence<KeptMessage> {
        sequence(state: last) { number in
            guard let index = number, index >= first, let message = self[index] else { return nil }
            number = message.previous
            return message
        }
    }
}
