/// The quantities of a row.
public struct Scale: Sendable {
    /// The number of promises a second.
    public var rate: Int
    /// The number of consumers that run at the same time.
    public var consumers: Int
    /// The number of times that a fault occurs.
    public var rounds: Int
    /// The number of effects between two faults, and after the last.
    public var calm: Int
    /// The number of promises made during an outage.
    public var outage: Int
    /// The number of promises made during a long outage.
    public var longOutage: Int
    /// The length of an outage of Postgres, during which nothing can be counted.
    public var databaseOutage: Duration
    /// The idle time of consumers whose handlers take ten times as long, in milliseconds.
    public var shortIdle: Int
    /// The idle time of consumers whose Redis stalls for a third longer, in milliseconds.
    public var stalledIdle: Int
    /// The longest time, in seconds, until 99 % of what a killed process had in work is done elsewhere.
    public var killRecovery: Double
    /// The number of messages of a long backlog.
    public var backlog: Int

    /// The quantities of `make faults`.
    public static let full = Scale(
        rate: 100, consumers: 3, rounds: 5, calm: 300, outage: 500, longOutage: 4000, databaseOutage: .seconds(5),
        shortIdle: 3000, stalledIdle: 15_000, killRecovery: 20, backlog: 1_000_000)

    /// The quantities of `make test`: once each, and small; several rows share the machine, hence the longer recovery.
    public static let short = Scale(
        rate: 40, consumers: 2, rounds: 1, calm: 40, outage: 20, longOutage: 60, databaseOutage: .milliseconds(500),
        shortIdle: 4000, stalledIdle: 3000, killRecovery: 45, backlog: 20_000)
}
