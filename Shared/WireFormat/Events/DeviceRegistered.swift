public import FoundationEssentials

/// An installation was registered, or registered again.
public struct DeviceRegistered: Event {
    public static var type: EventType { .deviceRegistered }
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
