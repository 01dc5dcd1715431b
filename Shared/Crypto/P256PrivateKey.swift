internal import COpenSSL

/// Signs by ECDSA on the curve P-256 with SHA-256: `ES256` of RFC 7518 §3.4. Its key is in memory, as those of simulated phones and
/// tests are; the phones of people keep theirs in hardware.
public struct P256PrivateKey: Sendable, CustomStringConvertible, CustomReflectable {
    /// The coordinates of the public key's point, as a JSON Web Key has them (RFC 7518 §6.2.1); 32 bytes each.
    public let coordinates: (x: [UInt8], y: [UInt8])
    private let handle: KeyHandle

    /// Makes a random key.
    public init() throws(CryptoError) {
        guard let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else { throw .library("EVP_PKEY_CTX_new_from_name") }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_CTX_set_group_name(context, "P-256") == 1,
            EVP_PKEY_generate(context, &key) == 1
        else { throw .library("making a key", code: .invalidKey) }
        handle = try KeyHandle(adopting: key)
        coordinates = try handle.coordinates()
    }

    /// Verifies the signatures of this key.
    public var publicKey: P256PublicKey {
        get throws(CryptoError) { try P256PublicKey(x: coordinates.x, y: coordinates.y) }
    }

    /// Returns the signature of a message, another one each time; see ``P256PublicKey/signatureByteCount``.
    public func signES256(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
        guard let context = EVP_MD_CTX_new() else { throw .library("EVP_MD_CTX_new") }
        defer { EVP_MD_CTX_free(context) }
        var length = Int(EVP_PKEY_get_size(handle.pointer))
        var encoded = [UInt8](repeating: 0, count: length)
        guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, handle.pointer) == 1,
            EVP_DigestSign(context, &encoded, &length, message, message.count) == 1
        else { throw .library("signing") }
        return try encoded.withUnsafeBufferPointer { bytes throws(CryptoError) in
            var start = bytes.baseAddress
            guard let numbers = d2i_ECDSA_SIG(nil, &start, length) else { throw .library("reading a signature") }
            defer { ECDSA_SIG_free(numbers) }
            return Self.bytes(of: ECDSA_SIG_get0_r(numbers)) + Self.bytes(of: ECDSA_SIG_get0_s(numbers))
        }
    }

    /// The name of the type; never the key.
    public var description: String { "P256PrivateKey" }
    /// Hides the key from `dump`.
    public var customMirror: Mirror { Mirror(self, children: []) }

    private static func bytes(of number: OpaquePointer?) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: P256PublicKey.coordinateByteCount) { bytes, count in
            count = max(0, Int(BN_bn2binpad(number, bytes.baseAddress, Int32(P256PublicKey.coordinateByteCount))))
        }
    }
}

extension KeyHandle {
    /// Returns the coordinates of a key on P-256.
    fileprivate func coordinates() throws(CryptoError) -> (x: [UInt8], y: [UInt8]) {
        let size = P256PublicKey.coordinateByteCount
        // An uncompressed point (SEC 1 §2.3.3): the byte 4, and both coordinates.
        var point = [UInt8](repeating: 0, count: 1 + 2 * size)
        var length = 0
        guard EVP_PKEY_get_octet_string_param(pointer, "pub", &point, point.count, &length) == 1, length == point.count, point[0] == 4
        else {
            throw .library("reading the public key")
        }
        return (Array(point[1...size]), Array(point[(size + 1)...]))
    }
}
