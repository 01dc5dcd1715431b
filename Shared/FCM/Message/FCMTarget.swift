/// The target of a message: one app on one device.
public enum FCMTarget: Sendable, Equatable, CustomStringConvertible {
    /// A registration token.
    case token(String)
    /// A Firebase installation id, which replaces tokens in newer SDKs.
    case fid(String)

    /// The kind of target; the value is hidden, because it allows pushing to the device.
    public var description: String {
        switch self {
        case .token: "token"
        case .fid: "fid"
        }
    }
}
