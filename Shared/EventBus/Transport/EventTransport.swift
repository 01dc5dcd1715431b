/// Appends entries to streams.
public protocol EventAppender: Sendable {
    /// Appends entries with one call, each to the end of its stream.
    ///
    /// - Returns: One result for each entry, in order: its entry id, or the reason of its refusal.
    /// - Throws: ``EventBusError`` when the result of no entry is known; then some may have been appended.
    func append(_ entries: [OutgoingEntry]) async throws(EventBusError) -> [Result<EntryID, EventBusError>]
}

/// Carries messages: streams of entries, and consumer groups with pending entries.
///
/// Implementations guarantee: a stream keeps the order in which entries were appended; each entry is delivered to every group, unless it is
/// for another group only, and to one consumer at a time; an entry stays pending until it is settled; groups begin at the first entry; and
/// a consumer cannot settle an entry that it no longer holds.
public protocol EventTransport: EventAppender {
    /// Creates a group that gets all entries from the first on; does nothing when it exists.
    func createGroup(_ group: String, on stream: String) async throws(EventBusError)

    /// Opens a reader for one consumer of a group; each has a connection of its own, because it waits.
    func openReader(_ consumer: GroupConsumer) async throws(EventBusError) -> any GroupReader

    /// Opens a reader of all entries that are appended to a stream from now on, outside of any group.
    func openTail(stream: String) async throws(EventBusError) -> any TailReader

    // MARK: Settlement. Each returns the entries that the consumer no longer holds, if it says no more; those are unchanged.

    /// Acknowledges entries. Doing it twice is harmless.
    func acknowledge(_ ids: [EntryID], by consumer: GroupConsumer) async throws(EventBusError) -> [EntryID]

    /// Schedules entries for another delivery to this group, and to no other, after a delay.
    func retry(_ retries: [DelayedRetry], by consumer: GroupConsumer) async throws(EventBusError) -> [EntryID]

    /// Releases entries that were not begun: any consumer may claim them at once, and the delivery does not count.
    func release(_ ids: [EntryID], by consumer: GroupConsumer) async throws(EventBusError) -> [EntryID]

    /// Renews entries that a consumer still works on, so that no other consumer claims them.
    ///
    /// - Returns: The entries that are pending for another consumer. An entry that the server has lost is not pending, and is not returned.
    func keep(_ ids: [EntryID], by consumer: GroupConsumer) async throws(EventBusError) -> [EntryID]

    /// Counts a delivery of suspects that a claim brought, just before they are worked on.
    func begin(_ suspects: [EntryID], by consumer: GroupConsumer) async throws(EventBusError) -> [EntryID]

    // MARK: Liveness

    /// Opens a lifeline, which ends with the consumer's process. By its loss the other consumers notice a death sooner than by missing
    /// heartbeats.
    func openLifeline(_ consumer: GroupConsumer) async throws(EventBusError) -> any Lifeline

    /// Records that a consumer lives, and returns which consumers are dead while they hold entries.
    func beat(_ limits: HeartbeatLimits, by consumer: GroupConsumer) async throws(EventBusError) -> HeartbeatAnswer

    // MARK: Maintenance of a group. Any of its consumers may do these at any time.

    /// Claims entries of a dead consumer, or such that were not renewed, and counts a delivery of each but a suspect's: that is counted
    /// when it is begun, so that a consumer which dies before, for another reason, does not count against it.
    func claim(_ request: ClaimRequest, for consumer: GroupConsumer) async throws(EventBusError) -> ClaimedEntries

    /// Appends entries whose retry is due, at most `limit`.
    func resumeRetries(of group: StreamGroup, limit: Int) async throws(EventBusError) -> ResumedRetries

    /// Deletes entries that all groups of a stream have settled.
    ///
    /// - Parameter age: Of a stream without any group, entries older than this; nil leaves such a stream alone.
    /// - Returns: The number of deleted entries.
    @discardableResult
    func trim(_ stream: String, ungroupedAge age: Duration?) async throws(EventBusError) -> Int

    /// Deletes a consumer from its group, unless it still has pending entries, which would be lost with it.
    ///
    /// - Returns: Whether it was deleted.
    @discardableResult
    func retire(_ consumer: GroupConsumer) async throws(EventBusError) -> Bool

    /// Deletes the consumers without pending entries that were idle for `idle`: they died without retiring.
    ///
    /// - Returns: The number of deleted consumers.
    @discardableResult
    func retireIdle(of group: StreamGroup, idle: Duration) async throws(EventBusError) -> Int

    // MARK: Inspection

    /// Returns the published messages that the group does not have any more (not undelivered, not pending, not scheduled for a retry): they
    /// were settled, or the server lost them. The inbox distinguishes the two.
    func absent(
        _ messages: [PublishedMessage], from group: StreamGroup
    ) async throws(EventBusError) -> [PublishedMessage]

    /// Returns the status of a group; zeros when the stream or the group does not exist.
    func status(of group: StreamGroup) async throws(EventBusError) -> GroupStatus
}

/// Reads new entries of a group for one consumer.
public protocol GroupReader: Sendable {
    /// Waits up to `wait` for entries and returns at most `count`; empty after a timeout or an interruption.
    ///
    /// - Parameter acknowledging: Handled entries, in ascending order; they are acknowledged in the same write, before the read.
    func read(
        count: Int, wait: Duration, acknowledging: [EntryID]
    ) async throws(EventBusError) -> ReadEntries

    /// Makes a waiting read return at once without losing an entry; a read that does not wait yet is not affected.
    func interrupt() async

    /// Releases the reader's resources. Its delivered entries stay pending.
    func close() async
}

/// Reads entries of a stream as they are appended.
public protocol TailReader: Sendable {
    /// Waits up to `wait` for entries after those that it returned before.
    func read(count: Int, wait: Duration) async throws(EventBusError) -> [TailEntry]

    /// Makes a waiting read return at once.
    func interrupt() async

    /// Releases the reader's resources.
    func close() async
}
