/// How much of everything a row uses.
public struct Scale: Sendable {
    /// Promises a second.
    public var rate: Int
    /// How many consumers run at the same time.
    public var consumers: Int
    /// How often a fault is repeated.
    public var rounds: Int
    /// How many effects have to be taken between two faults, and after the last.
    public var calm: Int
    /// How many promises pile up while something is away.
    public var outage: Int
    /// How many promises pile up while something is away for long.
    public var longOutage: Int
    /// How long Postgres is away, where nothing can be counted.
    public var databaseOutage: Duration
    /// The idle time of consumers whose handlers take ten times as long, in milliseconds.
    public var shortIdle: Int
    /// The idle time of consumers whose Redis stalls for a third longer, in milliseconds.
    public var stalledIdle: Int
    /// The longest time, in seconds, until 99 % of what a killed process had in work is done elsewhere.
    public var killRecovery: Double
    /// How many messages a long backlog has.
    public var backlog: Int

    /// What `make faults` uses.
    public static let full = Scale(
        rate: 100, consumers: 3, rounds: 5, calm: 300, outage: 500, longOutage: 4000, databaseOutage: .seconds(5),
        shortIdle: 3000, stalledIdle: 15_000, killRecovery: 20, backlog: 1_000_000)

    /// What `make test` uses: once each, and small; several rows share the machine, hence the longer recovery.
    public static let short = Scale(
        rate: 40, consumers: 2, rounds: 1, calm: 40, outage: 20, longOutage: 60, databaseOutage: .milliseconds(500),
        shortIdle: 4000, stalledIdle: 3000, killRecovery: 45, backlog: 20_000)
}
