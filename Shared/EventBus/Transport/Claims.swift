/// A request to claim entries of other consumers.
public struct ClaimRequest: Sendable {
    /// The consumer whose entries are claimed, because it is dead or has released them; nil for entries of any consumer.
    public var holder: String?
    /// The idle time after which entries may be claimed.
    public var minIdle: Duration
    /// Where the last claim ended; zero to begin.
    public var cursor: EntryID
    /// The most entries to claim.
    public var count: Int
    /// Whether one suspect may be among them: an entry that two consumers held when they died. It is handled in isolation, and its delivery
    /// count already includes that delivery.
    public var takesSuspect: Bool
    /// The number of crashes from which on an entry is no suspect but a dead letter.
    public var crashBudget: Int
    /// The time since the group's last heartbeat after which only released entries are claimed, because the server has stood still
    /// since the request was made (``HeartbeatLimits/stall``); nil to claim at any time.
    public var maxPulseAge: Duration?
    /// The time since the last stall (``HeartbeatAnswer/calm``) before which only released entries are claimed, if there is a
    /// ``maxPulseAge``.
    public var minCalm: Duration

    /// Creates a request; by default it claims from any consumer, from the beginning, and at any time.
    public init(
        holder: String? = nil, minIdle: Duration, cursor: EntryID = .zero, count: Int, takesSuspect: Bool = true, crashBudget: Int = 3,
        maxPulseAge: Duration? = nil, minCalm: Duration = .zero
    ) {
        self.holder = holder
        self.minIdle = minIdle
        self.cursor = cursor
        self.count = count
        self.takesSuspect = takesSuspect
        self.crashBudget = crashBudget
        self.maxPulseAge = maxPulseAge
        self.minCalm = minCalm
    }
}

/// The result of a claim.
public struct ClaimedEntries: Sendable {
    /// The claimed entries, which are pending for the claiming consumer now.
    public let entries: [DeliveredEntry]
    /// Where the next call goes on; zero when the end was reached.
    public let cursor: EntryID
    /// Entries that were pending but are no longer in the stream: lost to this group.
    public let lost: [EntryID]
}

/// A failed entry that its group is delivered again after a delay.
public struct DelayedRetry: Sendable {
    /// The failed entry, which has to be pending for the consumer that schedules its retry.
    public let id: EntryID
    /// The failures of the handler with this message, this one included.
    public let failures: Int
    /// The time from now to the next delivery, in whole milliseconds.
    public let delay: Duration

    /// Creates a retry; `failures` is stored with the message and survives restarts.
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
    /// When the next retry is due; nil when no retry waits.
    public let nextIn: Duration?
}
