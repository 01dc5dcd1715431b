public import FoundationEssentials

/// How the delivery of a notification to one installation ended.
public struct SettledDelivery: Codable, Sendable, Hashable {
    @WireUUID public var deliveryID: UUID
    @WireUUID public var installationID: UUID
    public var outcome: DeliveryOutcome
    /// The push provider's error code, such as `UNREGISTERED`.
    public var code: String?
    /// When it was sent, if it was: an answer about a token says nothing of one that was registered later.
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
