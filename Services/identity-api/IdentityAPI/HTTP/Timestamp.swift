internal import FoundationEssentials

/// A time as clients write it: RFC 3339, and the shorter forms of ISO 8601 that common libraries print, without seconds
/// (`2026-12-01T10:00Z`) and with a zone without its colon (`+0200`).
///
/// A text that goes on after the zone is refused: its beginning alone may be another time than its sender meant.
struct Timestamp: Sendable, Equatable {
    /// Why a text is not a time.
    enum Fault: Error {
        case shape, zone, remainder, impossible

        /// One sentence for the client.
        var message: String {
            switch self {
            case .shape: "A time is as in 2025-10-27T10:00:00Z"
            case .zone: "A time ends with its zone, which is Z or as in +02:00"
            case .remainder: "A time ends with its zone: there is something behind it"
            case .impossible: "There is no such time"
            }
        }
    }

    /// Digits of a fraction that count; more are read and do not.
    private static let maxFractionDigits = 9

    let date: Date

    /// Reads a text without white space around it.
    init(_ text: String) throws(Fault) {
        var scanner = TimestampScanner(text)
        guard let year = scanner.number(4), scanner.skip("-"), let month = scanner.number(2), scanner.skip("-"),
            let day = scanner.number(2), scanner.skip("Tt "), let hour = scanner.number(2), scanner.skip(":"),
            let minute = scanner.number(2)
        else { throw .shape }
        var (second, fraction) = (0, 0.0)
        if scanner.skip(":") {
            guard let seconds = scanner.number(2) else { throw .shape }
            second = seconds
            if scanner.skip(".,") {
                guard let part = scanner.fraction(upTo: Self.maxFractionDigits) else { throw .shape }
                fraction = part
            }
        }
        let offset = try Self.offset(&scanner)
        guard scanner.isAtEnd else { throw .remainder }
        guard 1...12 ~= month, 1...Self.days(inMonth: month, of: year) ~= day, hour < 24, minute < 60, second < 60 else {
            throw .impossible
        }
        let seconds = (Self.dayNumber(year, month, day) * 24 + hour) * 3_600 + minute * 60 + second - offset
        date = Date(timeIntervalSince1970: Double(seconds) + fraction)
    }

    /// Reads a zone: seconds east of Greenwich.
    private static func offset(_ scanner: inout TimestampScanner) throws(Fault) -> Int {
        if scanner.skip("Zz") { return 0 }
        let isWest = scanner.skip("-")
        guard isWest || scanner.skip("+"), let hours = scanner.number(2) else { throw .zone }
        let hasColon = scanner.skip(":")
        let minutes = scanner.number(2)
        guard minutes != nil || !hasColon else { throw .zone }
        guard hours < 24, minutes ?? 0 < 60 else { throw .impossible }
        return (isWest ? -1 : 1) * (hours * 3_600 + (minutes ?? 0) * 60)
    }

    private static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// The days since 1970 in the Gregorian calendar. Years begin in March here, so that the leap day is the last one.
    private static func dayNumber(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let marchYear = (month > 2 ? year : year - 1) + 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return marchYear * 365 + marchYear / 4 - marchYear / 100 + marchYear / 400 + dayOfYear - 719_468 - 146_097
    }
}

/// Reads the digits and signs of a text from its start.
private struct TimestampScanner {
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = text[...].utf8 }

    var isAtEnd: Bool { rest.isEmpty }

    /// Reads exactly that many digits; returns nil and reads nothing when there are fewer.
    mutating func number(_ count: Int) -> Int? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy(Self.isDigit) else { return nil }
        rest = rest.dropFirst(count)
        return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    /// Reads a fraction of any length; nil without a digit.
    mutating func fraction(upTo maxDigits: Int) -> Double? {
        let digits = rest.prefix(while: Self.isDigit)
        rest = rest[digits.endIndex...]
        return digits.isEmpty ? nil : Double("0.\(Substring(digits.prefix(maxDigits)))")
    }

    /// Skips one of these characters; false if another one follows.
    mutating func skip(_ characters: String) -> Bool {
        guard let byte = rest.first, characters.utf8.contains(byte) else { return false }
        rest = rest.dropFirst()
        return true
    }

    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }
}
