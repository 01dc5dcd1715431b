/// The loads, repetitions and times of the rows.
public struct Scale: Sendable {
    /// The pieces of work that are published per second.
    public var rate: Int
    /// The number of consumers that run at the same time.
    public var consumers: Int
    /// The number of repetitions of a fault.
    public var rounds: Int
    /// The number of effects to wait for between two faults, and after the last one.
    public var calm: Int
    /// The number of pieces of work that are published during an outage.
    public var outage: Int
    /// The number of pieces of work that are published during a long outage.
    public var longOutage: Int
    /// The duration of an outage of Postgres, during which effects cannot be counted.
    public var databaseOutage: Duration
    /// The duration of an outage of Postgres in which a consumer makes several attempts at each message that it holds.
    public var longDatabaseOutage: Duration
    /// The maximum time until 99 % of the work is done that was due when connections to Postgres fell silent or led to a server that takes
    /// no writes any more, in seconds.
    public var databaseRecovery: Double
    /// The idle time for claims of all other consumers, in milliseconds; nil for production's.
    public var minIdle: Int?
    /// The time until the first check whether a published message was handled, in milliseconds; nil for production's.
    public var confirmWait: Int?
    /// The idle time for claims of consumers whose handlers take ten times as long, in milliseconds.
    public var shortIdle: Int
    /// The idle time for claims of consumers whose Redis stalls for a third longer, in milliseconds.
    public var stalledIdle: Int
    /// The maximum time until 99 % of the work of a killed process is done by others, in seconds.
    public var killRecovery: Double
    /// The duration for a stopped process whose connections stay open.
    public var silenceRecovery: Double
    /// The number of messages in a long backlog.
    public var backlog: Int
    /// The actions of clients that are begun per second while keys are rotated.
    public var clientRate: Int
    /// The messages of a conversation, one every two seconds, that are sent before the next instance of a service is restarted.
    public var messagesPerRestart: Int
    /// Whether all keys are rotated, or the keys of one ring only.
    public var rotatesAllKeys: Bool

    /// The scale of `make faults`.
    public static let full = Scale(
        rate: 100, consumers: 3, rounds: 5, calm: 300, outage: 500, longOutage: 4000, databaseOutage: .seconds(5),
        longDatabaseOutage: .seconds(60), databaseRecovery: 15, minIdle: nil, confirmWait: nil, shortIdle: 3000, stalledIdle: 15_000,
        killRecovery: 3, silenceRecovery: 10, backlog: 1_000_000,
        clientRate: 3,
        messagesPerRestart: 2, rotatesAllKeys: true)

    /// The scale of `make test`: one small round of each row, with shorter times of the bus, because most of a row is waiting for
    /// them; several rows share the machine, hence the longer recovery.
    public static let short = Scale(
        rate: 40, consumers: 2, rounds: 1, calm: 40, outage: 20, longOutage: 60, databaseOutage: .milliseconds(500),
        longDatabaseOutage: .seconds(8), databaseRecovery: 45, minIdle: 4000, confirmWait: 2000, shortIdle: 4000, stalledIdle: 8000,
        killRecovery: 45, silenceRecovery: 45, backlog: 20_000,
        clientRate: 1,
        messagesPerRestart: 0, rotatesAllKeys: false)
}
