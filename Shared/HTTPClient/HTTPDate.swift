public import FoundationEssentials

/// Writes and reads dates in the form that all senders of HTTP have to use, such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
public enum HTTPDate {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Returns the text of an instant since 1970, without its fraction of a second.
    public static func string(_ date: Date) -> String {
        let seconds = Int(date.timeIntervalSince1970.rounded(.down))
        // 1970-01-01 was a Thursday.
        let day = days[seconds / 86_400 % 7]
        // 2026-11-21T18:30:00Z
        let parts = Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601).split { "-T:Z".contains($0) }
        guard parts.count == 6, let month = Int(parts[1]) else { return "" }
        return "\(day), \(parts[2]) \(months[month - 1]) \(parts[0]) \(parts[3]):\(parts[4]):\(parts[5]) GMT"
    }

    /// Returns the instant of a text; nil when it has another form.
    public static func date(_ text: String) -> Date? {
        // A leap second has no instant of its own.
        let text = text.replacing(":60 ", with: ":59 ")
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[3].utf8.count == 4, parts[5] == "GMT", let month = months.firstIndex(of: String(parts[2])) else {
            return nil
        }
        let number = month + 1 < 10 ? "0\(month + 1)" : "\(month + 1)"
        guard let date = try? Date("\(parts[3])-\(number)-\(parts[1])T\(parts[4])Z", strategy: .iso8601), date.timeIntervalSince1970 >= 0
        else { return nil }
        // Foundation takes 25 hours too. A wrong day of the week says nothing.
        return string(date).dropFirst(days[0].count) == text.drop { $0 != "," } ? date : nil
    }
}
