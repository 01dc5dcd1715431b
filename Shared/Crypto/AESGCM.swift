internal import COpenSSL

/// One AES-256-GCM context that seals or opens segments under one key (NIST SP 800-38D).
///
/// Sendable is unchecked: the context is owned by this value alone, which cannot be copied, and sealing and opening are `mutating`, so
/// that only one thread at a time uses it.
struct AESGCM: ~Copyable, @unchecked Sendable {
    /// The key of one value or stream, outside of the heap.
    struct Key: Sendable {
        fileprivate let bytes: SIMD32<UInt8>

        init(_ bytes: SIMD32<UInt8>) { self.bytes = bytes }
    }

    /// The nonce of one segment, outside of the heap.
    struct Nonce: Sendable {
        /// Its bytes, and four more that are not read.
        fileprivate var bytes = SIMD16<UInt8>()

        /// - Parameters:
        ///   - prefix: 7 bytes.
        ///   - counter: In big-endian order after them.
        ///   - end: The last byte.
        init(prefix: ArraySlice<UInt8>, counter: UInt32, end: UInt8) {
            precondition(prefix.count == SealHeader.noncePrefixByteCount)
            for (index, byte) in prefix.enumerated() { bytes[index] = byte }
            for index in 0..<4 { bytes[7 + index] = UInt8(truncatingIfNeeded: counter >> UInt32(24 - 8 * index)) }
            bytes[11] = end
        }
    }

    static let tagByteCount = MemoryLayout<Tag>.size
    private typealias Tag = SIMD16<UInt8>

    /// Fetched once, because with `EVP_aes_256_gcm()` OpenSSL 3 looks up the provider's cipher at each use.
    ///
    /// Never changed and never freed, so any thread may use it.
    private nonisolated(unsafe) static let cipher = EVP_CIPHER_fetch(nil, "AES-256-GCM", nil)

    private let context: OpaquePointer
    private let isSealing: Bool

    init(key: Key, isSealing: Bool) throws(CryptoError) {
        guard let context = EVP_CIPHER_CTX_new() else { throw .library("EVP_CIPHER_CTX_new") }
        guard Self.start(context, Self.cipher, key, isSealing) else {
            EVP_CIPHER_CTX_free(context)
            throw .library("EVP_CipherInit_ex")
        }
        self.context = context
        self.isSealing = isSealing
    }

    /// Sets the key, and the cipher unless it is nil.
    private static func start(_ context: OpaquePointer, _ cipher: OpaquePointer?, _ key: Key, _ isSealing: Bool) -> Bool {
        withUnsafeBytes(of: key.bytes) {
            EVP_CipherInit_ex(context, cipher, nil, $0.assumingMemoryBound(to: UInt8.self).baseAddress, nil, isSealing ? 1 : 0) == 1
        }
    }

    deinit { EVP_CIPHER_CTX_free(context) }  // it also wipes the key schedule

    /// Seals or opens with another key from now on.
    mutating func setKey(_ key: Key) throws(CryptoError) {
        guard Self.start(context, nil, key, isSealing) else { throw .library("EVP_CipherInit_ex") }
    }

    /// Appends the ciphertext and its tag to `output`.
    ///
    /// - Parameters:
    ///   - associated: The first part of the associated data, which is authenticated with the ciphertext.
    ///   - following: The second part.
    mutating func seal(
        _ plaintext: UnsafeRawBufferPointer, nonce: Nonce, associated: ArraySlice<UInt8>, following: [UInt8] = [],
        into output: inout [UInt8]
    ) throws(CryptoError) {
        precondition(isSealing)
        try begin(nonce, associated, following)
        let start = output.count
        output.reserveCapacity(start + plaintext.count + Self.tagByteCount)
        output.append(contentsOf: plaintext)
        var tag = Tag()
        let status =
            output.withUnsafeMutableBytes { transform(UnsafeMutableRawBufferPointer(rebasing: $0[start...])) }
            && finish() && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagByteCount), &tag) == 1
        withUnsafeBytes(of: tag) { output.append(contentsOf: $0) }
        guard status else {
            output.removeSubrange(start...)
            throw .library("sealing")
        }
    }

    /// Appends the plaintext of a segment (ciphertext and tag) to `output`; does not append unless the tag is valid.
    ///
    /// The parameters are those of ``seal(_:nonce:associated:following:into:)``.
    mutating func open(
        _ segment: UnsafeRawBufferPointer, nonce: Nonce, associated: ArraySlice<UInt8>, following: [UInt8] = [],
        into output: inout [UInt8]
    ) throws(CryptoError) {
        precondition(!isSealing)
        guard segment.count >= Self.tagByteCount else {
            throw CryptoError(.authenticationFailed, "the sealed value ends before its tag")
        }
        try begin(nonce, associated, following)
        let length = segment.count - Self.tagByteCount
        let start = output.count
        output.append(contentsOf: UnsafeRawBufferPointer(rebasing: segment[..<length]))
        var tag = segment.loadUnaligned(fromByteOffset: length, as: Tag.self)
        let status =
            output.withUnsafeMutableBytes { transform(UnsafeMutableRawBufferPointer(rebasing: $0[start...])) }
            && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagByteCount), &tag) == 1 && finish()
        guard status else {
            output.removeSubrange(start...)
            ERR_clear_error()
            throw CryptoError(.authenticationFailed, "the sealed value was changed, cut or belongs elsewhere")
        }
    }

    private func begin(_ nonce: Nonce, _ associated: ArraySlice<UInt8>, _ following: [UInt8]) throws(CryptoError) {
        guard Self.begin(context, isSealing, nonce, associated, following) else { throw .library("AES-GCM") }
    }

    /// A static function, because the compiler (6.3.1) crashes on its closures in a method of a noncopyable value.
    private static func begin(
        _ context: OpaquePointer, _ isSealing: Bool, _ nonce: Nonce, _ associated: ArraySlice<UInt8>, _ following: [UInt8]
    ) -> Bool {
        let hasNonce = withUnsafeBytes(of: nonce.bytes) {
            EVP_CipherInit_ex(context, nil, nil, nil, $0.assumingMemoryBound(to: UInt8.self).baseAddress, isSealing ? 1 : 0) == 1
        }
        return hasNonce && associated.withUnsafeBufferPointer { authenticate($0, context) }
            && following.withUnsafeBufferPointer { authenticate($0, context) }
    }

    private static func authenticate(_ bytes: UnsafeBufferPointer<UInt8>, _ context: OpaquePointer) -> Bool {
        var length: Int32 = 0
        return bytes.isEmpty || EVP_CipherUpdate(context, nil, &length, bytes.baseAddress, Int32(bytes.count)) == 1
    }

    /// Seals or opens bytes in place.
    private func transform(_ bytes: UnsafeMutableRawBufferPointer) -> Bool {
        guard let base = bytes.assumingMemoryBound(to: UInt8.self).baseAddress, bytes.count > 0 else { return true }
        var length: Int32 = 0
        return EVP_CipherUpdate(context, base, &length, base, Int32(bytes.count)) == 1 && Int(length) == bytes.count
    }

    private func finish() -> Bool {
        var length: Int32 = 0
        var unused = Tag()  // GCM writes nothing here
        return withUnsafeMutableBytes(of: &unused) { bytes in
            EVP_CipherFinal_ex(context, bytes.assumingMemoryBound(to: UInt8.self).baseAddress, &length) == 1
        }
    }
}
