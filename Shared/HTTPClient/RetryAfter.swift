public import FoundationEssentials

extension HTTPClientResponse {
    /// Returns the wait that the header `Retry-After` asks for, at most `max`; nil without a valid header.
    public func retryAfter(now: Date, max: Duration) -> Duration? {
        header("Retry-After").flatMap { RetryAfter.parse($0, now: now, maxSeconds: Int(max.components.seconds)) }
    }
}

/// Parses the header `Retry-After`: seconds or a date (RFC 9110 §10.2.3).
enum RetryAfter {
    /// Returns the wait; nil when the value has neither form.
    static func parse(_ value: String, now: Date, maxSeconds: Int) -> Duration? {
        if !value.isEmpty, value.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            return .seconds(min(Int(value) ?? maxSeconds, maxSeconds))
        }
        guard let time = secondsSince1970(value) else { return nil }
        let wait = Double(time) - now.timeIntervalSince1970
        return .seconds(min(max(0, Int(wait.rounded(.up))), maxSeconds))
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Parses the only form of date that senders may use, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static func secondsSince1970(_ text: String) -> Int? {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[0].hasSuffix(","), parts[5] == "GMT", let day = Int(parts[1]),
            let month = months.firstIndex(of: String(parts[2])), let year = Int(parts[3])
        else { return nil }
        let clock = parts[4].split(separator: ":").map { Int($0) }
        guard clock.count == 3, let hour = clock[0], let minute = clock[1], let second = clock[2],
            (1...31).contains(day), (1970...9999).contains(year), (0...23).contains(hour), (0...59).contains(minute),
            (0...60).contains(second)
        else { return nil }
        return days(year: year, month: month + 1, day: day) * 86_400 + hour * 3600 + minute * 60 + second
    }

    /// Returns the days since 1970-01-01 in the Gregorian calendar, counting years from March so that leap days come last.
    private static func days(year: Int, month: Int, day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = year / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}
