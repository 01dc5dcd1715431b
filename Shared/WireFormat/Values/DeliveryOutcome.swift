/// The final outcome of a delivery.
public enum DeliveryOutcome: String, BodyWord {
    /// The push provider accepted the message.
    case accepted
    /// The push provider does not know the token any more.
    case dead
    /// The push provider refused the message, or every attempt met a fault.
    case failed
    /// The notification expired before it could be sent.
    case expired
    /// The delivery was deliberately not sent, for instance because the installation was removed meanwhile.
    case skipped
}
