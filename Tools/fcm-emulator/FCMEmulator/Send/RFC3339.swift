import FoundationEssentials

/// Timestamps of the control API.
enum RFC3339 {
    /// `2026-11-21T09:30:00.123Z`: to the millisecond, rounded down.
    static func string(_ date: Date) -> String {
        date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
