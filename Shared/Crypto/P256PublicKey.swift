internal import COpenSSL

/// Verifies signatures by ECDSA on the curve P-256 with SHA-256: `ES256` of RFC 7518 §3.4.
public struct P256PublicKey: Sendable {
    /// The length of a coordinate, in bytes.
    public static let coordinateByteCount = 32
    /// The length of a signature, in bytes: the numbers `r` and `s`, each with the most significant byte first.
    public static let signatureByteCount = 64
    /// The SHA-256 thumbprint of the key as a JSON Web Key (RFC 7638 §3); 32 bytes.
    public let thumbprint: [UInt8]
    private let handle: KeyHandle

    /// Makes a key from the coordinates of its point, as a JSON Web Key has them (RFC 7518 §6.2.1).
    ///
    /// - Throws: `invalidKey` for coordinates of another length, and for a point that is not on the curve.
    public init(x: [UInt8], y: [UInt8]) throws(CryptoError) {
        guard x.count == Self.coordinateByteCount, y.count == Self.coordinateByteCount else {
            throw CryptoError(.invalidKey, "the coordinates are not of \(Self.coordinateByteCount) bytes")
        }
        handle = try KeyHandle(adopting: Self.key(ofPoint: [4] + x + y))
        thumbprint = SHA256.hash(#"{"crv":"P-256","kty":"EC","x":"\#(Base64URL.encode(x))","y":"\#(Base64URL.encode(y))"}"#)
    }

    /// Makes OpenSSL's key of an uncompressed point (SEC 1 §2.3.3). Reading a SubjectPublicKeyInfo takes 106 µs, more than a verification;
    /// this takes 19.
    private static func key(ofPoint point: [UInt8]) throws(CryptoError) -> OpaquePointer? {
        guard let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else { throw .library("EVP_PKEY_CTX_new_from_name") }
        defer { EVP_PKEY_CTX_free(context) }
        // A parameter points to its name and its value.
        var (curve, point) = (Array("P-256".utf8CString), point)
        var key: OpaquePointer?
        let isMade = "group".withCString { group in
            "pub".withCString { pub in
                curve.withUnsafeMutableBufferPointer { curve in
                    point.withUnsafeMutableBufferPointer { point in
                        var parameters = [
                            OSSL_PARAM_construct_utf8_string(group, curve.baseAddress, 0),
                            OSSL_PARAM_construct_octet_string(pub, point.baseAddress, point.count), OSSL_PARAM_construct_end(),
                        ]
                        return EVP_PKEY_fromdata_init(context) == 1
                            && EVP_PKEY_fromdata(context, &key, selection, &parameters) == 1
                    }
                }
            }
        }
        guard isMade else { throw .library("reading a point", code: .invalidKey) }
        return key
    }

    private static let selection =
        OSSL_KEYMGMT_SELECT_DOMAIN_PARAMETERS | OSSL_KEYMGMT_SELECT_OTHER_PARAMETERS | OSSL_KEYMGMT_SELECT_PUBLIC_KEY

    /// Returns whether a signature belongs to a message.
    public func verifyES256(signature: [UInt8], message: [UInt8]) -> Bool {
        guard signature.count == Self.signatureByteCount, let encoded = Self.encoded(signature), let context = EVP_MD_CTX_new() else {
            return false
        }
        defer {
            EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, handle.pointer) == 1
            && EVP_DigestVerify(context, encoded, encoded.count, message, message.count) == 1
    }

    /// Encodes the two numbers of a signature in DER, as OpenSSL reads them.
    private static func encoded(_ signature: [UInt8]) -> [UInt8]? {
        guard let numbers = ECDSA_SIG_new() else { return nil }
        defer { ECDSA_SIG_free(numbers) }
        let half = Int32(coordinateByteCount)
        let (r, s) = signature.withUnsafeBufferPointer { bytes in
            (BN_bin2bn(bytes.baseAddress, half, nil), BN_bin2bn(bytes.baseAddress.map { $0 + coordinateByteCount }, half, nil))
        }
        guard ECDSA_SIG_set0(numbers, r, s) == 1 else {
            BN_free(r)
            BN_free(s)
            return nil
        }
        var output: UnsafeMutablePointer<UInt8>?
        let count = i2d_ECDSA_SIG(numbers, &output)
        guard count > 0, let output else { return nil }
        defer { CRYPTO_free(output, #file, #line) }
        return Array(UnsafeBufferPointer(start: output, count: Int(count)))
    }
}
