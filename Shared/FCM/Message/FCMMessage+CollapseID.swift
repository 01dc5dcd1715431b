internal import HeliographCrypto

extension FCMMessage {
    /// The longest `apns-collapse-id`, in bytes.
    static let maxCollapseIDByteCount = 64

    /// Returns a subject of at most 64 bytes unchanged, and the hash of a longer one.
    static func collapseID(_ subject: String) -> String {
        subject.utf8.count <= maxCollapseIDByteCount ? subject : Base64URL.encode(SHA256.hash(subject))
    }
}
