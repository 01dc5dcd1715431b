// What the client uses of Apple's CryptoKit.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation
public import Security

public enum CryptoKitError: Error {
    case incorrectKeySize
    case authenticationFailure
    case underlyingCoreCryptoError(error: Int32)
}

public struct SHA256Digest: Sequence, Sendable {
    public func makeIterator() -> IndexingIterator<[UInt8]> { [].makeIterator() }
}

public enum SHA256 {
    public static func hash<D: DataProtocol>(data: D) -> SHA256Digest { SHA256Digest() }
}

public enum P256 {
    public enum Signing {
        public struct ECDSASignature: Sendable {
            public var rawRepresentation: Data { Data() }
        }

        public struct PublicKey: Sendable {
            public var rawRepresentation: Data { Data() }
        }

        public struct PrivateKey: Sendable {
            public init(compactRepresentable: Bool = true) {}
            public init<D: ContiguousBytes>(rawRepresentation data: D) throws {}
            public var publicKey: PublicKey { PublicKey() }
            public var rawRepresentation: Data { Data() }
            public func signature<D: DataProtocol>(for data: D) throws -> ECDSASignature { ECDSASignature() }
        }
    }
}

public enum SecureEnclave {
    public static var isAvailable: Bool { false }

    public enum P256 {
        public enum Signing {
            public struct PrivateKey: Sendable {
                public init(compactRepresentable: Bool = true, accessControl: SecAccessControl) throws {}
                public init(dataRepresentation: Data) throws {}
                public var publicKey: CryptoKit.P256.Signing.PublicKey { CryptoKit.P256.Signing.PublicKey() }
                public var dataRepresentation: Data { Data() }
                public func signature<D: DataProtocol>(for data: D) throws -> CryptoKit.P256.Signing.ECDSASignature {
                    CryptoKit.P256.Signing.ECDSASignature()
                }
            }
        }
    }
}
