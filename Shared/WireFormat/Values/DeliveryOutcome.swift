/// How the attempt to reach one installation ended.
public enum DeliveryOutcome: String, Codable, Sendable, CaseIterable {
    /// The push provider took the message.
    case accepted
    /// The push provider does not know the token any more.
    case dead
    /// The push provider refused the message, or every attempt met a fault.
    case failed
    /// The notification's time was over before it could be sent.
    case expired
    /// Nothing was sent on purpose, for instance because the installation had gone meanwhile.
    case skipped
}
