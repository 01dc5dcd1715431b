internal import FCM
internal import Storage

extension FCMTarget {
    /// Makes a target of the value that an app registered.
    init(_ value: String, kind: PushTarget.Kind) {
        switch kind {
        case .token: self = .token(value)
        case .fid: self = .fid(value)
        }
    }
}
