/// One of the 16,384 parts of a cluster's keys, each of which is on one master.
///
/// Source: https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/#key-distribution-model
struct ClusterSlot: Hashable, Sendable {
    static let count = 16_384

    /// From 0 to 16,383.
    let number: Int

    init(number: Int) {
        precondition((0..<Self.count).contains(number), "a cluster has 16,384 slots")
        self.number = number
    }

    /// Returns the slot of a key: the slot of the part between the first `{` and the next `}`, or of the whole key if there is no such part
    /// or it is empty.
    init(ofKey key: UnsafeRawBufferPointer) {
        var hashed = key[...]
        if let open = key.firstIndex(of: UInt8(ascii: "{")) {
            let rest = key[(open + 1)...]
            if let close = rest.firstIndex(of: UInt8(ascii: "}")), close > rest.startIndex { hashed = rest[..<close] }
        }
        self.init(number: Int(Self.crc16(hashed)) % Self.count)
    }

    init(ofKey key: String) {
        var key = key
        self = key.withUTF8 { ClusterSlot(ofKey: UnsafeRawBufferPointer($0)) }
    }

    /// CRC-16/XMODEM: polynomial 0x1021, initial value 0.
    private static func crc16(_ bytes: Slice<UnsafeRawBufferPointer>) -> UInt16 {
        var crc: UInt16 = 0
        for byte in bytes { crc = crc << 8 ^ table[Int(crc >> 8) ^ Int(byte)] }
        return crc
    }

    private static let table: [UInt16] = (0..<256).map { index in
        var crc = UInt16(index) << 8
        for _ in 0..<8 { crc = crc & 0x8000 == 0 ? crc << 1 : crc << 1 ^ 0x1021 }
        return crc
    }
}
