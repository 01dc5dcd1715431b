internal import COpenSSL

/// Generates cryptographically secure random bytes.
public enum SecureRandom {
    /// Returns `count` bytes of OpenSSL's generator, which the kernel seeds.
    ///
    /// Stops the process when the generator fails, because a predictable key or token is worse than no service.
    public static func bytes(_ count: Int) -> [UInt8] {
        precondition(count >= 0 && count <= Int(Int32.max))
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            if count > 0 {
                let status = RAND_bytes(buffer.baseAddress, Int32(count))
                precondition(status == 1, "the random generator failed")
            }
            initialized = count
        }
    }
}
