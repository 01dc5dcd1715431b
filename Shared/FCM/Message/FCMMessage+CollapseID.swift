internal import HeliographCrypto

extension FCMMessage {
    /// The longest `apns-collapse-id`, in bytes.
    static let collapseIDByteCountMax = 64

    /// A subject of at most 64 bytes is its own id; a longer one is hashed.
    static func collapseID(_ subject: String) -> String {
        subject.utf8.count <= collapseIDByteCountMax ? subject : Base64URL.encode(SHA256.hash(subject))
    }
}
