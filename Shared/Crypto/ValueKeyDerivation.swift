internal import COpenSSL
internal import Synchronization

/// Derives the key of a sealed value from a ring's key and a salt, as XAES-256-GCM does: C2SP XAES-256-GCM, the KDF of NIST SP 800-108
/// in counter mode with AES-CMAC, which encrypts two blocks.
final class ValueKeyDerivation: Sendable {
    static let saltByteCount = 12
    private static let blockByteCount = 16

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

        /// Encrypts whole blocks in place.
        mutating func encrypt(_ blocks: inout [UInt8]) {
            let count = Int32(blocks.count)
            var written: Int32 = 0
            let status = blocks.withUnsafeMutableBufferPointer {
                EVP_EncryptUpdate(context, $0.baseAddress, &written, $0.baseAddress, count)
            }
            precondition(status == 1 && written == count, "AES of whole blocks cannot fail")
        }
    }

    private let cipher: Mutex<BlockCipher>
    /// The subkey by which CMAC masks the last block of a message of whole blocks (NIST SP 800-38B § 6.1).
    private let mask: [UInt8]

    init(key: [UInt8]) {
        var cipher = BlockCipher(key: key)
        var zero = [UInt8](repeating: 0, count: Self.blockByteCount)
        cipher.encrypt(&zero)
        mask = Self.doubled(zero)
        self.cipher = Mutex(cipher)
    }

    /// Returns the key of the value with this salt.
    func key(salt: some Collection<UInt8>) -> [UInt8] {
        precondition(salt.count == Self.saltByteCount)
        var blocks: [UInt8] = []
        blocks.reserveCapacity(2 * Self.blockByteCount)
        for counter in 1...2 as ClosedRange<UInt8> {
            blocks += [0, counter, UInt8(ascii: "X"), 0]
            blocks += salt
        }
        for index in blocks.indices { blocks[index] ^= mask[index % Self.blockByteCount] }
        cipher.withLock { $0.encrypt(&blocks) }
        return blocks
    }

    /// Doubles a block in the field of CMAC.
    private static func doubled(_ block: [UInt8]) -> [UInt8] {
        var result = block
        var carry: UInt8 = 0
        for index in block.indices.reversed() {
            result[index] = block[index] << 1 | carry
            carry = block[index] >> 7
        }
        result[result.count - 1] ^= carry * 0x87
        return result
    }
}
