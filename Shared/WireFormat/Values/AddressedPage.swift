public import FoundationEssentials

/// A page of a fan-out: deliveries that are in the database under one id.
public struct AddressedPage: Codable, Sendable, Hashable {
    @WireUUID public var id: UUID
    /// How many deliveries it has, at most ``NotificationAddressed/deliveriesMax``.
    public var count: Int

    public init(id: UUID, count: Int) {
        self.id = id
        self.count = count
    }
}
