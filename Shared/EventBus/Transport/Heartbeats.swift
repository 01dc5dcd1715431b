/// The times by which the consumers of a group are taken for dead.
public struct HeartbeatLimits: Sendable {
    /// The silence after which a consumer is dead, whatever became of its connection: its process or its machine stands still, or is cut
    /// off.
    public var silence: Duration
    /// The time for a heartbeat after a consumer was first seen without the lifeline of its last one (``EventTransport/openLifeline(_:)``):
    /// after it the consumer is dead, because its process has ended. Long enough for a living one to connect again.
    public var lifelineGrace: Duration
    /// The time without a heartbeat of any consumer after which the server, or the whole group, has stood still: then heartbeats are
    /// missing although their consumers live.
    public var stall: Duration
    /// The time after a stall in which no consumer is taken for dead, so that living consumers can send their heartbeats.
    public var holdOff: Duration

    /// Creates the limits; the Redis transport counts them in whole milliseconds.
    public init(silence: Duration, lifelineGrace: Duration, stall: Duration, holdOff: Duration) {
        self.silence = silence
        self.lifelineGrace = lifelineGrace
        self.stall = stall
        self.holdOff = holdOff
    }
}

/// The answer to a heartbeat.
public struct HeartbeatAnswer: Sendable {
    /// The holders of entries that may be claimed at once: dead consumers, and the name under which released entries are pending.
    public let claimable: [String]
    /// Whether the server has a lifeline of the consumer; if not, it has to open one.
    public let hasLifeline: Bool
    /// The time since the last stall (``HeartbeatLimits/stall``); zero while heartbeats cannot be stored.
    public let calm: Duration
    /// The time until the first holder that has lost its lifeline is dead (``HeartbeatLimits/lifelineGrace``); nil when no holder has lost
    /// one.
    public let graceEndsIn: Duration?

    /// Creates the answer that a transport gives to a heartbeat.
    public init(claimable: [String], hasLifeline: Bool, calm: Duration, graceEndsIn: Duration?) {
        self.claimable = claimable
        self.hasLifeline = hasLifeline
        self.calm = calm
        self.graceEndsIn = graceEndsIn
    }
}

/// A connection that a process keeps open until it ends, so that its end is noticed at once.
public protocol Lifeline: Sendable {
    /// Ends it.
    func close() async
}
