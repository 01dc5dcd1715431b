internal import COpenSSL

/// One AES-256-GCM context that seals or opens segments under one key (NIST SP 800-38D).
///
/// Sendable because the context is owned by this value alone, which cannot be copied.
struct AESGCM: ~Copyable, @unchecked Sendable {
    static let nonceByteCount = 12
    static let tagByteCount = 16

    private let context: OpaquePointer
    private let isSealing: Bool

    init(key: [UInt8], isSealing: Bool) throws(CryptoError) {
        precondition(key.count == KeyRing.keyByteCount)
        guard let context = EVP_CIPHER_CTX_new() else { throw .library("EVP_CIPHER_CTX_new") }
        guard EVP_CipherInit_ex(context, EVP_aes_256_gcm(), nil, key, nil, isSealing ? 1 : 0) == 1 else {
            EVP_CIPHER_CTX_free(context)
            throw .library("EVP_CipherInit_ex")
        }
        self.context = context
        self.isSealing = isSealing
    }

    deinit { EVP_CIPHER_CTX_free(context) }  // it also wipes the key schedule

    /// Appends the ciphertext and its tag to `output`.
    func seal(
        _ plaintext: UnsafeRawBufferPointer, nonce: [UInt8], associated: [UInt8], into output: inout [UInt8]
    ) throws(CryptoError) {
        precondition(isSealing)
        try begin(nonce: nonce, associated: associated)
        let start = output.count
        output.appendZeros(plaintext.count + Self.tagByteCount)
        let status = output.withUnsafeMutableBytes { buffer in
            let target = UnsafeMutableRawBufferPointer(rebasing: buffer[start...])
            guard transform(plaintext, into: target), finish() else { return false }
            let tag = target.baseAddress.map { $0 + plaintext.count }
            return EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagByteCount), tag) == 1
        }
        guard status else {
            output.removeSubrange(start...)
            throw .library("sealing")
        }
    }

    /// Appends the plaintext of a segment and its tag to `output`; nothing is appended unless the tag is right.
    func open(
        _ segment: UnsafeRawBufferPointer, nonce: [UInt8], associated: [UInt8], into output: inout [UInt8]
    ) throws(CryptoError) {
        precondition(!isSealing)
        guard segment.count >= Self.tagByteCount else {
            throw CryptoError(.authenticationFailed, "the sealed value ends before its tag")
        }
        try begin(nonce: nonce, associated: associated)
        let length = segment.count - Self.tagByteCount
        let start = output.count
        output.appendZeros(length)
        var tag = [UInt8](segment[length...])
        let status = output.withUnsafeMutableBytes { buffer in
            let target = UnsafeMutableRawBufferPointer(rebasing: buffer[start...])
            return transform(UnsafeRawBufferPointer(rebasing: segment[..<length]), into: target)
                && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagByteCount), &tag) == 1
                && finish()
        }
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

    private func transform(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Bool {
        guard input.count > 0 else { return true }
        var length: Int32 = 0
        let source = input.assumingMemoryBound(to: UInt8.self).baseAddress
        let target = output.assumingMemoryBound(to: UInt8.self).baseAddress
        return EVP_CipherUpdate(context, target, &length, source, Int32(input.count)) == 1
            && Int(length) == input.count
    }

    private func finish() -> Bool {
        var length: Int32 = 0
        var unused = [UInt8](repeating: 0, count: Self.tagByteCount)  // GCM writes nothing here
        return EVP_CipherFinal_ex(context, &unused, &length) == 1
    }
}
