public import FoundationEssentials

extension UUID {
    /// Makes an id from a hash, in the format of a random UUID (version 4), so that it cannot be told from other ids.
    ///
    /// - Parameter hash: At least 16 bytes; the rest is not used.
    public init(hash: [UInt8]) {
        self.init(
            uuid: (
                hash[0], hash[1], hash[2], hash[3], hash[4], hash[5], hash[6] & 0x0F | 0x40, hash[7],
                hash[8] & 0x3F | 0x80, hash[9], hash[10], hash[11], hash[12], hash[13], hash[14], hash[15]
            ))
    }
}
