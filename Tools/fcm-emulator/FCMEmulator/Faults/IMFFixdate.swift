import FoundationEssentials

/// The date of HTTP's headers (RFC 9110 § 5.6.7).
enum IMFFixdate {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// `Sun, 06 Nov 1994 08:49:37 GMT`, rounded up to the second.
    static func string(_ date: Date) -> String {
        let seconds = Int(date.timeIntervalSince1970.rounded(.up))
        // 1 January 1970 was a Thursday.
        let day = days[(seconds / 86_400) % 7]
        // 2026-11-21T18:30:00Z
        let parts = Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601).split { "-T:Z".contains($0) }
        guard parts.count == 6, let month = Int(parts[1]) else { return "" }
        return "\(day), \(parts[2]) \(months[month - 1]) \(parts[0]) \(parts[3]):\(parts[4]):\(parts[5]) GMT"
    }
}
