public import FoundationEssentials

/// A message that the emulator has accepted.
public struct ReceivedMessage: Sendable, Equatable {
    /// The name it was answered with: `projects/{project}/messages/{id}`.
    public let name: String
    /// When it was accepted.
    public let receivedAt: Date
    /// The message, all its fields under their snake_case names.
    public let message: JSONValue
    /// The token or installation id it went to; nil for a topic or condition.
    public let registration: String?
    /// The phone it went to; nil for a topic or condition.
    public let platform: DevicePlatform?

    /// As the control API shows it.
    var json: JSONValue {
        ["name": .string(name), "received_at": .string(RFC3339.string(receivedAt)), "message": message]
    }
}
