public import FoundationEssentials
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Generates UUIDs of version 7 (RFC 9562): ordered by their creation time, so that indexes over them stay dense.
public enum UUIDv7 {
    /// Generates an id: 48 bits of milliseconds, 12 bits of the fraction of that millisecond, 62 random bits.
    public static func generate(at date: Date = Date()) -> UUID {
        make(microseconds: Int64(date.timeIntervalSince1970 * 1_000_000), random: random.withLock { $0.next() })
    }

    private static let random = Mutex(BufferedRandom())

    /// The creation time of an id of version 7, to the millisecond; nil for an id of another version.
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
        // RFC 9562, method 3: the fraction of the millisecond in units of 1/4096, so that ids of one millisecond are ordered too.
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

/// The kernel's random numbers, fetched 32 at a time: a call of the kernel for each id was 7 % of the processor time of the bus.
private struct BufferedRandom: RandomNumberGenerator {
    private var words = [UInt64](repeating: 0, count: 32)
    private var used = 32

    mutating func next() -> UInt64 {
        if used == words.count {
            // One call may ask for 256 bytes at most, and up to that number it cannot fail.
            let isFilled = words.withUnsafeMutableBytes { getentropy($0.baseAddress, $0.count) == 0 }
            precondition(isFilled, "the kernel has random numbers")
            used = 0
        }
        defer {
            words[used] = 0
            used += 1
        }
        return words[used]
    }
}
