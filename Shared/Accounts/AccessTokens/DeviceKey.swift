/// The public key of a device, to which a sign-in is bound.
public struct DeviceKey: Sendable, Equatable {
    /// The SHA-256 thumbprint of the key (RFC 7638); 32 bytes.
    public var thumbprint: [UInt8]
    /// Where the app says that the private key is.
    public var storage: DeviceKeyStorage

    /// Describes a key.
    public init(thumbprint: [UInt8], storage: DeviceKeyStorage) {
        self.thumbprint = thumbprint
        self.storage = storage
    }
}

/// Where an app says that the private key of its device is. Only an attestation would prove it.
public enum DeviceKeyStorage: String, Sendable, CaseIterable {
    /// The Secure Enclave or an Android Keystore with hardware: the key cannot be copied.
    case hardware
    /// A file or keychain from which a system that is broken into can copy it.
    case software
}
