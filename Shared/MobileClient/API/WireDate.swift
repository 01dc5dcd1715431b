internal import Foundation

/// Instants as the API writes them: RFC 3339, with or without fractions of a second.
///
/// Foundation's parsers accept different spellings on different platforms; this parser accepts exactly the spellings of RFC 3339 §5.6.
enum WireDate {
    /// Parses an instant; nil for any other text.
    static func parse(_ text: String) -> Date? {
        var reader = Reader(bytes: Array(text.utf8))
        guard let year = reader.number(4), reader.take("-"), let month = reader.number(2), reader.take("-"), let day = reader.number(2),
            reader.take("T") || reader.take("t") || reader.take(" "), let hour = reader.number(2), reader.take(":"),
            let minute = reader.number(2), reader.take(":"), let second = reader.number(2), let fraction = reader.fraction(),
            let offset = reader.offset(), reader.isAtEnd, 1...12 ~= month, 1...days(of: month, year) ~= day, hour < 24, minute < 60,
            // A leap second is the first of the next minute.
            second <= 60
        else { return nil }
        let seconds = daysSince1970(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - offset * 60
        return Date(timeIntervalSince1970: Double(seconds) + fraction)
    }

    /// Writes an instant in UTC, to the millisecond where it has fractions. Years are 1 to 9999, which others are cut to.
    static func text(_ date: Date) -> String {
        let seconds = min(max(date.timeIntervalSince1970, -62_135_596_800), 253_402_300_799)
        // Rounded as a whole, so that no fraction becomes a second.
        let milliseconds = Int(((seconds.isNaN ? 0 : seconds) * 1_000).rounded())
        let whole = Date(timeIntervalSince1970: Double(milliseconds.floored(by: 1_000)))
        let text = whole.formatted(.iso8601)
        let rest = milliseconds - milliseconds.floored(by: 1_000) * 1_000
        guard rest > 0 else { return text }
        return "\(text.dropLast()).\(String(1_000 + rest).dropFirst())Z"
    }

    /// Parses an instant of a header (RFC 9110 §5.6.7); nil for any other text.
    static func parseHTTP(_ text: String) -> Date? {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(secondsFromGMT: 0)
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return format.date(from: text)
    }

    private static func days(of month: Int, _ year: Int) -> Int {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    /// The days from 1970-01-01 in the Gregorian calendar. The year begins in March here, so that the leap day is its last.
    private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return year * 365 + year.floored(by: 4) - year.floored(by: 100) + year.floored(by: 400) + dayOfYear - 719_468
    }

    private struct Reader {
        let bytes: [UInt8]
        var position = 0

        var isAtEnd: Bool { position == bytes.count }

        mutating func take(_ scalar: Unicode.Scalar) -> Bool {
            guard position < bytes.count, bytes[position] == UInt8(ascii: scalar) else { return false }
            position += 1
            return true
        }

        /// Reads a number of exactly so many digits.
        mutating func number(_ digits: Int) -> Int? {
            guard position + digits <= bytes.count else { return nil }
            var number = 0
            for byte in bytes[position..<position + digits] {
                guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte else { return nil }
                number = number * 10 + Int(byte - UInt8(ascii: "0"))
            }
            position += digits
            return number
        }

        /// Reads the fractions of a second; 0 without fractions, nil when a point has no digits.
        mutating func fraction() -> Double? {
            guard take(".") else { return 0 }
            let start = position
            var (fraction, scale) = (0.0, 0.1)
            while let digit = number(1) {
                fraction += Double(digit) * scale
                scale /= 10
            }
            return position > start ? fraction : nil
        }

        /// Reads the offset from UTC in minutes.
        mutating func offset() -> Int? {
            if take("Z") || take("z") { return 0 }
            let sign = take("+") ? 1 : take("-") ? -1 : 0
            guard sign != 0, let hours = number(2), take(":"), let minutes = number(2), hours < 24, minutes < 60 else { return nil }
            return sign * (hours * 60 + minutes)
        }
    }
}

extension Int {
    /// The quotient, rounded down.
    fileprivate func floored(by divisor: Int) -> Int { (self - ((self % divisor) + divisor) % divisor) / divisor }
}
