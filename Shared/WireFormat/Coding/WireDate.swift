public import FoundationEssentials

extension Date {
    /// Milliseconds since 1970, rounded: the form of every time on the bus.
    public var millisecondsSince1970: Int64 {
        Int64((timeIntervalSince1970 * 1000).rounded())
    }

    /// The time that many milliseconds after 1970.
    public init(millisecondsSince1970 milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }

    /// The same time rounded to the millisecond, which is what survives a trip over the bus.
    public var roundedToMilliseconds: Date {
        Date(millisecondsSince1970: millisecondsSince1970)
    }
}
