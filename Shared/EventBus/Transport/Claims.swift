/// A request to claim entries of other consumers.
public struct ClaimRequest: Sendable {
    /// The idle time after which entries may be claimed.
    public var minIdle: Duration
    /// Where the last claim ended; zero to begin.
    public var cursor: EntryID
    /// The most entries to claim; 0 only records that the group is being maintained.
    public var count: Int
    /// Whether one suspect may be among them: an entry that two consumers held when they died. It is handled in isolation, and its
    /// delivery count is the one that it will have once it is begun.
    public var takesSuspect: Bool
    /// The number of crashes from which on an entry is no suspect but a dead letter.
    public var crashBudget: Int
    /// The time without maintenance of the group after which the server is taken to have stood still: renewals are missing although
    /// their consumers live, and for ``holdOff`` only released entries can be claimed.
    public var stallLimit: Duration
    /// The time in which every living consumer renews all entries that it holds; at most ``minIdle`` counts.
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

/// The result of a claim.
public struct ClaimedEntries: Sendable {
    public let entries: [DeliveredEntry]
    /// Where the next call goes on; zero when the end was reached.
    public let cursor: EntryID
    /// Entries that were pending but are no longer in the stream: lost to this group.
    public let lost: [EntryID]
}

/// A failed entry that its group is delivered again after a delay.
public struct DelayedRetry: Sendable {
    public let id: EntryID
    /// The failures of the handler with this message, this one included.
    public let failures: Int
    public let delay: Duration

    public init(id: EntryID, failures: Int, delay: Duration) {
        self.id = id
        self.failures = failures
        self.delay = delay
    }
}

/// The result of appending due retries.
public struct ResumedRetries: Sendable {
    /// The number of entries that were due and were appended.
    public let count: Int
    /// When the next one is due; nil when none waits.
    public let nextIn: Duration?
}
