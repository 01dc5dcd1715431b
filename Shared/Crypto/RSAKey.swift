internal import COpenSSL

/// A key that was checked to be of RSA.
struct RSAKeyHandle: Sendable {
    /// The minimum number of bits of a key; fewer are not safe any more.
    static let minBits = 2048

    private let key: KeyHandle
    var pointer: OpaquePointer { key.pointer }

    init(adopting pointer: OpaquePointer?) throws(CryptoError) {
        key = try KeyHandle(adopting: pointer)
        guard EVP_PKEY_get_base_id(key.pointer) == EVP_PKEY_RSA, EVP_PKEY_get_bits(key.pointer) >= Self.minBits else {
            throw CryptoError(.invalidKey, "the key is not RSA of at least \(Self.minBits) bits")
        }
    }

    /// Reads a key from a PEM text with one of OpenSSL's readers.
    static func read(pem: String, with reader: (OpaquePointer) -> OpaquePointer?) throws(CryptoError) -> RSAKeyHandle {
        let text = Array(pem.utf8)
        guard let bio = text.withUnsafeBytes({ BIO_new_mem_buf($0.baseAddress, Int32($0.count)) }) else {
            throw .library("BIO_new_mem_buf")
        }
        defer { BIO_free(bio) }
        // Keeps the memory of `text` alive during the reading, which the optimiser does not know of.
        return try withExtendedLifetime(text) { () throws(CryptoError) in try RSAKeyHandle(adopting: reader(bio)) }
    }

    /// Makes a public key from its numbers, the most significant byte first.
    static func make(modulus: [UInt8], exponent: [UInt8]) throws(CryptoError) -> RSAKeyHandle {
        // An exponent beyond 32 bits is allowed by the standard, but no issuer of keys uses one, and it is slow.
        guard modulus.count <= RSAPublicKey.maxBits / 8, exponent.count <= 4, exponent.reduce(0, { $0 << 8 | Int($1) }) > 1 else {
            throw CryptoError(.invalidKey, "the numbers are not of an RSA key of up to \(RSAPublicKey.maxBits) bits")
        }
        let numbers = (n: BN_bin2bn(modulus, Int32(modulus.count), nil), e: BN_bin2bn(exponent, Int32(exponent.count), nil))
        let builder = OSSL_PARAM_BLD_new()
        let context = EVP_PKEY_CTX_new_from_name(nil, "RSA", nil)
        defer {
            EVP_PKEY_CTX_free(context)
            OSSL_PARAM_BLD_free(builder)
            BN_free(numbers.n)
            BN_free(numbers.e)
        }
        guard let builder, let context, let n = numbers.n, let e = numbers.e,
            // The builder keeps the pointers to the names, so these must be constants of the program.
            OSSL_PARAM_BLD_push_BN(builder, name("n"), n) == 1, OSSL_PARAM_BLD_push_BN(builder, name("e"), e) == 1,
            let parameters = OSSL_PARAM_BLD_to_param(builder)
        else { throw .library("reading the numbers of a key", code: .invalidKey) }
        defer { OSSL_PARAM_free(parameters) }
        var key: OpaquePointer?
        guard EVP_PKEY_fromdata_init(context) == 1,
            EVP_PKEY_fromdata(context, &key, OSSL_KEYMGMT_SELECT_PUBLIC_KEY, parameters) == 1
        else {
            throw .library("reading the numbers of a key", code: .invalidKey)
        }
        return try RSAKeyHandle(adopting: key)
    }

    /// Returns a number of the key by OpenSSL's name for it, the most significant byte first.
    func number(_ name: StaticString) throws(CryptoError) -> [UInt8] {
        var number: OpaquePointer?
        guard EVP_PKEY_get_bn_param(pointer, Self.name(name), &number) == 1, let number else {
            throw .library("reading a number of the key")
        }
        defer { BN_free(number) }
        return [UInt8](unsafeUninitializedCapacity: Int((BN_num_bits(number) + 7) / 8)) { bytes, count in
            count = Int(BN_bn2bin(number, bytes.baseAddress))
        }
    }

    private static func name(_ text: StaticString) -> UnsafePointer<CChar> {
        UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
    }

    /// Returns the PEM text of the key, written by one of OpenSSL's writers.
    func pem(with writer: (OpaquePointer, OpaquePointer) -> Int32) throws(CryptoError) -> String {
        guard let bio = BIO_new(BIO_s_mem()) else { throw .library("BIO_new") }
        defer { BIO_free(bio) }
        guard writer(bio, pointer) == 1 else { throw .library("writing the key") }
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = BIO_read(bio, &buffer, Int32(buffer.count)), count > 0 {
            text += buffer[..<Int(count)]
        }
        return String(decoding: text, as: UTF8.self)
    }
}
