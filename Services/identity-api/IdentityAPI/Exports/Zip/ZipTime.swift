internal import FoundationEssentials

/// A time as an archive stores it: MS-DOS date and time, in steps of two seconds (APPNOTE.TXT 6.3.10 §4.4.6).
///
/// The format names no time zone; this is UTC.
struct ZipTime: Sendable, Equatable {
    /// The first and the last second that the format has: 1980-01-01 00:00:00 and 2107-12-31 23:59:58.
    private static let range: ClosedRange<Double> = 315_532_800...4_354_819_198

    let date: UInt16
    let time: UInt16

    /// Converts an instant to the nearest one that the format can store.
    init(_ instant: Date) {
        let seconds = min(max(instant.timeIntervalSince1970, Self.range.lowerBound), Self.range.upperBound)
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents(
            [.year, .month, .day, .hour, .minute, .second], from: Date(timeIntervalSince1970: seconds))
        date = Self.packed((parts.year ?? 1980) - 1980, 4, parts.month ?? 1, 5, parts.day ?? 1)
        time = Self.packed(parts.hour ?? 0, 6, parts.minute ?? 0, 5, (parts.second ?? 0) / 2)
    }

    /// Joins three numbers; the second and third have the given numbers of bits.
    private static func packed(_ first: Int, _ secondBits: Int, _ second: Int, _ thirdBits: Int, _ third: Int) -> UInt16 {
        UInt16(truncatingIfNeeded: (first << secondBits | second) << thirdBits | third)
    }
}
