public import FoundationEssentials
public import JSON

/// The outcome of a delivery.
public struct SettledDelivery: BodyObject, Hashable {
    /// The delivery that was settled, an id of the view `delivery_ledger`.
    public var deliveryID: UUID
    /// The installation that the delivery was for; `push_installs.id`.
    public var installationID: UUID
    /// The terminal state that the delivery reached.
    public var outcome: DeliveryOutcome
    /// The push provider's error code, such as `UNREGISTERED`.
    public var code: String?
    /// Time of sending, if it was sent: the provider's answer about a token does not apply to a token that was registered later.
    public var sentAt: Date?

    /// Creates an outcome; `sentAt` is rounded to the millisecond.
    public init(
        deliveryID: UUID, installationID: UUID, outcome: DeliveryOutcome, code: String? = nil, sentAt: Date? = nil
    ) {
        self.deliveryID = deliveryID
        self.installationID = installationID
        self.outcome = outcome
        self.code = code
        self.sentAt = sentAt?.roundedToMilliseconds
    }

    /// Reads `delivery_id`, `installation_id` and `outcome`, and `code` and `sent_at` if they are there.
    public init(from body: BodyReader) throws(BodyFault) {
        code = try body.readIfPresent("code")
        deliveryID = try body.read("delivery_id")
        installationID = try body.read("installation_id")
        outcome = try body.read("outcome")
        sentAt = try body.readIfPresent("sent_at")
    }

    /// Writes `code`, `delivery_id`, `installation_id`, `outcome` and `sent_at`; omits `code` and `sent_at` when they are nil.
    public func writeMembers(to body: inout JSONWriter) {
        body.member("code", code)
        body.member("delivery_id", deliveryID)
        body.member("installation_id", installationID)
        body.member("outcome", outcome)
        body.member("sent_at", sentAt)
    }
}
