public import FoundationEssentials

/// A delivery page: deliveries of one fan-out that are in the database under one id.
public struct AddressedPage: Codable, Sendable, Hashable {
    @WireUUID public var id: UUID
    /// The number of its deliveries, at most ``NotificationAddressed/maxDeliveries``.
    public var count: Int

    public init(id: UUID, count: Int) {
        self.id = id
        self.count = count
    }
}
