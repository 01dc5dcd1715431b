internal import FCM
internal import Storage

extension FCMTarget {
    /// Makes a target of what an app registered with.
    init(_ value: String, kind: PushTarget.Kind) {
        switch kind {
        case .token: self = .token(value)
        case .fid: self = .fid(value)
        }
    }
}
