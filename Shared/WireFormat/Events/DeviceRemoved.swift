public import FoundationEssentials

/// An installation was removed from its user.
public struct DeviceRemoved: Event {
    public static var type: EventType { .deviceRemoved }
    public static var groups: [String] { ["token-registry"] }

    @WireUUID public var installationID: UUID

    public var key: String { installationID.wireString }

    public init(installationID: UUID) {
        self.installationID = installationID
    }

    enum CodingKeys: String, CodingKey {
        case installationID = "installation_id"
    }
}
