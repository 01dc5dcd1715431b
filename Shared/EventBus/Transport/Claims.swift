public import RedisClient

/// What a consumer wants to take over from others.
public struct ClaimRequest: Sendable {
    /// After how long without a sign of life entries may be taken.
    public var minIdle: Duration
    /// Where the last claim ended; zero to begin.
    public var cursor: EntryID
    /// At most so many entries; with 0 the claim only tells the server that this group is being tended.
    public var count: Int
    /// Whether a suspect may be among them: one entry with which consumers died twice. It is tried alone, for it may be the
    /// cause, and its delivery count is what it will be once it is begun.
    public var takesSuspect: Bool
    /// With so many crashes an entry is not to be tried any more, and does not count as a suspect.
    public var crashBudget: Int
    /// When nobody has tended the group for so long, the server stood still or was away: signs of life are missing although
    /// their consumers live, and nothing is given away for ``holdOff``, but what was handed back.
    public var stallLimit: Duration
    /// How long every living consumer needs at most to give a sign of life for all it holds; at most ``minIdle`` counts.
    public var holdOff: Duration

    public init(
        minIdle: Duration, cursor: EntryID = .zero, count: Int, takesSuspect: Bool = true, crashBudget: Int = 3,
        stallLimit: Duration = .seconds(6), holdOff: Duration = .seconds(8)
    ) {
        self.minIdle = minIdle
        self.cursor = cursor
        self.count = count
        self.takesSuspect = takesSuspect
        self.crashBudget = crashBudget
        self.stallLimit = stallLimit
        self.holdOff = holdOff
    }
}

/// What a claim brought.
public struct ClaimedEntries: Sendable {
    public let entries: [DeliveredEntry]
    /// Where the next call goes on; zero when the end was reached.
    public let cursor: EntryID
    /// Entries that were pending but are no longer in the stream: lost to this group.
    public let lost: [EntryID]
}

/// A failed entry that its group shall be given again.
public struct DelayedRetry: Sendable {
    public let id: EntryID
    /// How often a handler has failed with the message, this time included.
    public let failures: Int
    public let delay: Duration

    public init(id: EntryID, failures: Int, delay: Duration) {
        self.id = id
        self.failures = failures
        self.delay = delay
    }
}

/// What became of the entries that wait for a retry.
public struct ResumedRetries: Sendable {
    /// How many were due and are in the stream again.
    public let count: Int
    /// When the next one is due; nil when none waits.
    public let nextIn: Duration?
}
