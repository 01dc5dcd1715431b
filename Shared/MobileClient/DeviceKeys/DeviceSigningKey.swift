public import Foundation

/// A key of the device for ECDSA on the curve P-256, which signs the proofs of its sign-ins (docs/api/device-keys.md).
public protocol DeviceSigningKey: Sendable {
    /// The bytes from which ``DeviceKeyMaker/key(from:)`` makes the key again. Of a key in hardware they are of no use on another device.
    var archive: Data { get }
    /// The coordinates x and y of the public key's point; 32 bytes each, the most significant first.
    var publicPoint: Data { get }
    /// Whether hardware keeps the private key, so that there is no copy of it.
    var isInHardware: Bool { get }

    /// Returns the ECDSA signature of SHA-256 of a message: the numbers r and s, 32 bytes each, the most significant first.
    ///
    /// - Throws: An error of the device, for example before its first unlock.
    func signature(of message: Data) throws -> Data
}

/// The cryptography of a device. `CryptoKitKeys` is the one of apps on Apple's systems.
public protocol DeviceKeyMaker: Sendable {
    /// Makes a random key, in hardware where the device has it.
    func makeKey() throws -> any DeviceSigningKey

    /// Makes a key again from its archive.
    ///
    /// - Throws: ``DeviceKeyLoss`` if the key does not exist any more; another error where a later call may succeed.
    func key(from archive: Data) throws -> any DeviceSigningKey

    /// Returns SHA-256 of bytes; 32 bytes.
    func sha256(_ data: Data) -> Data
}

/// Says that the device does not have a key any more, for example because the archive is of another device.
public struct DeviceKeyLoss: Error {
    /// Creates the error, for makers of keys.
    public init() {}
}
