public import FoundationEssentials

extension Date {
    /// The last millisecond of the year 9999: a later time is a mistake, and both Postgres and Date can represent it.
    static let maxWireMilliseconds: Int64 = 253_402_300_799_999

    /// Milliseconds since 1970, rounded; all times on the bus have this form.
    public var millisecondsSince1970: Int64 {
        Int64((timeIntervalSince1970 * 1000).rounded())
    }

    /// Creates a time from milliseconds since 1970.
    public init(millisecondsSince1970 milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }

    /// The time rounded to the millisecond, the precision of the bus.
    public var roundedToMilliseconds: Date {
        Date(millisecondsSince1970: millisecondsSince1970)
    }
}
