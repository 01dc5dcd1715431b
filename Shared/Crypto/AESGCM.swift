internal import COpenSSL

/// One AES-256-GCM context that seals or opens segments under one key (NIST SP 800-38D).
///
/// Sendable is unchecked: the context is owned by this value alone, which cannot be copied, and sealing and opening are `mutating`, so
/// that only one thread at a time uses it.
struct AESGCM: ~Copyable, @unchecked Sendable {
    static let nonceByteCount = 12
    static let tagByteCount = MemoryLayout<Tag>.size
    private typealias Tag = SIMD16<UInt8>

    /// Fetched once, because with `EVP_aes_256_gcm()` OpenSSL 3 looks up the provider's cipher at each use.
    ///
    /// Never changed and never freed, so any thread may use it.
    private nonisolated(unsafe) static let cipher = EVP_CIPHER_fetch(nil, "AES-256-GCM", nil)

    private let context: OpaquePointer
    private let isSealing: Bool

    init(key: [UInt8], isSealing: Bool) throws(CryptoError) {
        precondition(key.count == KeyRing.keyByteCount)
        guard let context = EVP_CIPHER_CTX_new() else { throw .library("EVP_CIPHER_CTX_new") }
        guard EVP_CipherInit_ex(context, Self.cipher, nil, key, nil, isSealing ? 1 : 0) == 1 else {
            EVP_CIPHER_CTX_free(context)
            throw .library("EVP_CipherInit_ex")
        }
        self.context = context
        self.isSealing = isSealing
    }

    deinit { EVP_CIPHER_CTX_free(context) }  // it also wipes the key schedule

    /// Appends the ciphertext and its tag to `output`.
    mutating func seal(
        _ plaintext: UnsafeRawBufferPointer, nonce: [UInt8], associated: [UInt8], into output: inout [UInt8]
    ) throws(CryptoError) {
        precondition(isSealing)
        try begin(nonce: nonce, associated: associated)
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

    /// Appends the plaintext of a segment (ciphertext and tag) to `output`; appends nothing unless the tag is valid.
    mutating func open(
        _ segment: UnsafeRawBufferPointer, nonce: [UInt8], associated: [UInt8], into output: inout [UInt8]
    ) throws(CryptoError) {
        precondition(!isSealing)
        guard segment.count >= Self.tagByteCount else {
            throw CryptoError(.authenticationFailed, "the sealed value ends before its tag")
        }
        try begin(nonce: nonce, associated: associated)
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

    private func begin(nonce: [UInt8], associated: [UInt8]) throws(CryptoError) {
        precondition(nonce.count == Self.nonceByteCount)
        var length: Int32 = 0
        guard EVP_CipherInit_ex(context, nil, nil, nil, nonce, isSealing ? 1 : 0) == 1,
            associated.isEmpty || EVP_CipherUpdate(context, nil, &length, associated, Int32(associated.count)) == 1
        else { throw .library("AES-GCM") }
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
