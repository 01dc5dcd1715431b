public import FoundationEssentials

extension HTTPClientResponse {
    /// Returns the wait that the header `Retry-After` asks for, at most `max`; nil without a valid header.
    public func retryAfter(now: Date, max: Duration) -> Duration? {
        header("Retry-After").flatMap { RetryAfter.parse($0, now: now, maxSeconds: Int(max.components.seconds)) }
    }
}

/// Parses the header `Retry-After`: seconds or a date (RFC 9110 §10.2.3).
enum RetryAfter {
    /// Returns the wait; nil when the value is not a number of seconds and not a date.
    static func parse(_ value: String, now: Date, maxSeconds: Int) -> Duration? {
        if !value.isEmpty, value.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            return .seconds(min(Int(value) ?? maxSeconds, maxSeconds))
        }
        guard let time = HTTPDate.date(value) else { return nil }
        return .seconds(min(max(0, Int(time.timeIntervalSince(now).rounded(.up))), maxSeconds))
    }
}
