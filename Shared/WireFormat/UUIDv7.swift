public import FoundationEssentials

/// Makes UUIDs of version 7 (RFC 9562): ordered by the time they were made, so that indexes over them stay dense.
public enum UUIDv7 {
    /// Makes a new id: 48 bits of milliseconds, 12 bits of the fraction of that millisecond, 62 random bits.
    public static func generate(at date: Date = Date()) -> UUID {
        var random = SystemRandomNumberGenerator()
        return make(microseconds: Int64(date.timeIntervalSince1970 * 1_000_000), random: random.next())
    }

    /// The time at which an id of version 7 was made, to the millisecond; nil for an id of another version.
    public static func timestamp(of id: UUID) -> Date? {
        let bytes = id.uuid
        guard bytes.6 >> 4 == 7 else { return nil }
        var milliseconds: Int64 = 0
        for byte in [bytes.0, bytes.1, bytes.2, bytes.3, bytes.4, bytes.5] {
            milliseconds = milliseconds << 8 | Int64(byte)
        }
        return Date(millisecondsSince1970: milliseconds)
    }

    /// Builds the bytes from plain values, for tests.
    static func make(microseconds: Int64, random: UInt64) -> UUID {
        let clamped = UInt64(max(0, microseconds))
        let milliseconds = clamped / 1000
        // RFC 9562, method 3: the part of the millisecond as a fraction of 4096, so that ids of one millisecond are ordered too.
        let fraction = (clamped % 1000) * 4096 / 1000
        func time(_ shift: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: milliseconds >> shift) }
        func noise(_ shift: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: random >> shift) }
        return UUID(
            uuid: (
                time(40), time(32), time(24), time(16), time(8), time(0),
                0x70 | UInt8(truncatingIfNeeded: fraction >> 8), UInt8(truncatingIfNeeded: fraction),
                0x80 | noise(56) & 0x3F, noise(48), noise(40), noise(32), noise(24), noise(16), noise(8), noise(0)
            ))
    }
}

extension UUID {
    /// The id as it is written on the wire: 36 characters in lower case, as RFC 9562 asks writers to do.
    public var wireString: String {
        let digits: StaticString = "0123456789abcdef"
        let bytes = uuid
        return String(unsafeUninitializedCapacity: 36) { output in
            withUnsafeBytes(of: bytes) { input in
                var end = 0
                for index in 0..<16 {
                    if index == 4 || index == 6 || index == 8 || index == 10 {
                        output[end] = UInt8(ascii: "-")
                        end += 1
                    }
                    output[end] = digits.utf8Start[Int(input[index] >> 4)]
                    output[end + 1] = digits.utf8Start[Int(input[index] & 0xF)]
                    end += 2
                }
            }
            return 36
        }
    }
}
