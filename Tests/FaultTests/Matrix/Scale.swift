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
    /// How long a process or a server that is to come back stays away, at least.
    public var absence: Duration
    /// How many messages a long backlog has.
    public var backlog: Int

    /// What `make faults` uses.
    public static let full = Scale(
        rate: 100, consumers: 3, rounds: 5, calm: 300, absence: .seconds(40), backlog: 1_000_000)

    /// What `make test` uses: once each, and small.
    public static let short = Scale(
        rate: 40, consumers: 2, rounds: 1, calm: 40, absence: .seconds(1), backlog: 20_000)
}
