/// Where a message goes: one app on one device.
public enum FCMTarget: Sendable, Equatable, CustomStringConvertible {
    /// A registration token.
    case token(String)
    /// A Firebase installation id, which takes the place of tokens in newer SDKs.
    case fid(String)

    /// Hides the value: whoever has it can be pushed to.
    public var description: String {
        switch self {
        case .token: "token"
        case .fid: "fid"
        }
    }
}
