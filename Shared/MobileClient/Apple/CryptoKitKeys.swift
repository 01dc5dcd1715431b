#if canImport(CryptoKit)
    internal import CryptoKit
    public import Foundation
    internal import Security

    /// Keeps the key of a device in the Secure Enclave, or as software on a device without one, such as a simulator.
    public struct CryptoKitKeys: DeviceKeyMaker {
        /// What the first byte of an archive says.
        private enum Storage: UInt8 {
            case software = 1
            case secureEnclave = 2
        }

        private struct SoftwareKey: DeviceSigningKey {
            let key: P256.Signing.PrivateKey
            let isInHardware = false

            var archive: Data { Data([Storage.software.rawValue]) + key.rawRepresentation }
            var publicPoint: Data { key.publicKey.rawRepresentation }

            func signature(of message: Data) throws -> Data { try key.signature(for: message).rawRepresentation }
        }

        private struct EnclaveKey: DeviceSigningKey {
            let key: SecureEnclave.P256.Signing.PrivateKey
            let isInHardware = true

            var archive: Data { Data([Storage.secureEnclave.rawValue]) + key.dataRepresentation }
            var publicPoint: Data { key.publicKey.rawRepresentation }

            func signature(of message: Data) throws -> Data { try key.signature(for: message).rawRepresentation }
        }

        /// Creates the maker; it keeps nothing itself.
        public init() {}

        /// Makes a key that signs from the first unlock of the device on, because tokens are renewed while it is locked.
        ///
        /// - Throws: An error of CryptoKit or Security.
        public func makeKey() throws -> any DeviceSigningKey {
            guard SecureEnclave.isAvailable else { return SoftwareKey(key: P256.Signing.PrivateKey()) }
            var failure: Unmanaged<CFError>?
            guard
                let access = SecAccessControlCreateWithFlags(
                    nil, kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly, .privateKeyUsage, &failure)
            else { throw (failure?.takeRetainedValue() as (any Error)?) ?? DeviceKeyLoss() }
            return EnclaveKey(key: try SecureEnclave.P256.Signing.PrivateKey(accessControl: access))
        }

        /// Makes a key again from its archive.
        ///
        /// - Throws: ``DeviceKeyLoss`` for an archive of another device.
        public func key(from archive: Data) throws -> any DeviceSigningKey {
            let bytes = Data(archive.dropFirst())
            do {
                switch archive.first.flatMap(Storage.init(rawValue:)) {
                case .software: return SoftwareKey(key: try P256.Signing.PrivateKey(rawRepresentation: bytes))
                case .secureEnclave: return EnclaveKey(key: try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: bytes))
                case nil: throw DeviceKeyLoss()
                }
            } catch is CryptoKitError {
                // The bytes are damaged, or another Secure Enclave has made them.
                throw DeviceKeyLoss()
            }
        }

        /// Returns SHA-256 of bytes; 32 bytes.
        public func sha256(_ data: Data) -> Data { Data(SHA256.hash(data: data)) }
    }
#endif
