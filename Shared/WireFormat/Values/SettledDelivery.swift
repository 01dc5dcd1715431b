public import FoundationEssentials

/// The outcome of a delivery.
public struct SettledDelivery: Codable, Sendable, Hashable {
    @WireUUID public var deliveryID: UUID
    @WireUUID public var installationID: UUID
    public var outcome: DeliveryOutcome
    /// The push provider's error code, such as `UNREGISTERED`.
    public var code: String?
    /// Time of sending, if it was sent: the provider's answer about a token does not apply to one that was registered later.
    public var sentAt: Date?

    public init(
        deliveryID: UUID, installationID: UUID, outcome: DeliveryOutcome, code: String? = nil, sentAt: Date? = nil
    ) {
        self.deliveryID = deliveryID
        self.installationID = installationID
        self.outcome = outcome
        self.code = code
        self.sentAt = sentAt?.roundedToMilliseconds
    }

    enum CodingKeys: String, CodingKey {
        case deliveryID = "delivery_id"
        case installationID = "installation_id"
        case outcome
        case code
        case sentAt = "sent_at"
    }
}
