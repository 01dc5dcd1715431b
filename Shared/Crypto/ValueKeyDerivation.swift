internal import COpenSSL
internal import Synchronization

/// Derives the key of a sealed value from a ring's key and a salt, as XAES-256-GCM does: C2SP XAES-256-GCM, the KDF of NIST SP 800-108
/// in counter mode with AES-CMAC, which encrypts two blocks.
final class ValueKeyDerivation: Sendable {
    static let saltByteCount = 12
    private typealias Block = SIMD16<UInt8>

    /// AES-256 in ECB mode under the ring's key.
    ///
    /// Sendable is unchecked: the context is owned by this value alone, which cannot be copied and lies in a mutex.
    private struct BlockCipher: ~Copyable, @unchecked Sendable {
        private let context: OpaquePointer

        init(key: [UInt8]) {
            precondition(key.count == KeyRing.keyByteCount)
            guard let context = EVP_CIPHER_CTX_new(), EVP_EncryptInit_ex(context, EVP_aes_256_ecb(), nil, key, nil) == 1,
                EVP_CIPHER_CTX_set_padding(context, 0) == 1
            else { preconditionFailure("OpenSSL has no AES or no memory: nothing can go on without") }
            self.context = context
        }

        deinit { EVP_CIPHER_CTX_free(context) }  // it also wipes the key schedule

        /// Encrypts one block or two in place.
        mutating func encrypt<Blocks: SIMD>(_ blocks: inout Blocks) where Blocks.Scalar == UInt8 {
            var written: Int32 = 0
            let status = withUnsafeMutableBytes(of: &blocks) {
                let bytes = $0.assumingMemoryBound(to: UInt8.self).baseAddress
                return EVP_EncryptUpdate(context, bytes, &written, bytes, Int32($0.count))
            }
            precondition(status == 1 && written == Blocks.scalarCount, "AES of whole blocks cannot fail")
        }
    }

    private let cipher: Mutex<BlockCipher>
    /// The subkey by which CMAC masks the last block of a message of whole blocks (NIST SP 800-38B § 6.1).
    private let mask: Block

    init(key: [UInt8]) {
        var cipher = BlockCipher(key: key)
        var zero = Block()
        cipher.encrypt(&zero)
        mask = Self.doubled(zero)
        self.cipher = Mutex(cipher)
    }

    /// Returns the key of the value with this salt.
    func key(salt: ArraySlice<UInt8>) -> AESGCM.Key {
        precondition(salt.count == Self.saltByteCount)
        var first = Block()
        first[2] = UInt8(ascii: "X")
        for (index, byte) in salt.enumerated() { first[4 + index] = byte }
        var second = first
        (first[1], second[1]) = (1, 2)
        var blocks = SIMD32(lowHalf: first ^ mask, highHalf: second ^ mask)
        cipher.withLock { $0.encrypt(&blocks) }
        return AESGCM.Key(blocks)
    }

    /// Doubles a block in the field of CMAC.
    private static func doubled(_ block: Block) -> Block {
        var result = block
        var carry: UInt8 = 0
        for index in block.indices.reversed() {
            result[index] = block[index] << 1 | carry
            carry = block[index] >> 7
        }
        result[Block.scalarCount - 1] ^= carry * 0x87
        return result
    }
}
