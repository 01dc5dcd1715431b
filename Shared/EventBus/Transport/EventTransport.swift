/// What takes entries for streams.
public protocol EventAppender: Sendable {
    /// Appends entries in one go, each to the end of its stream.
    ///
    /// - Returns: One result an entry, in order: the number it got, or why it was refused.
    /// - Throws: ``EventBusError`` when nothing is known about any of them; then some may have been appended.
    func append(_ entries: [OutgoingEntry]) async throws(EventBusError) -> [Result<EntryID, EventBusError>]
}

/// What carries messages: streams that keep their entries, and groups that remember what each of them was given.
///
/// Implementations promise: entries of a stream keep the order in which they were appended; every group is given every
/// entry that is not meant for another alone, to one consumer at a time; an entry stays pending until it is settled; groups
/// begin at the first entry; and who does not hold an entry any more cannot settle it.
public protocol EventTransport: EventAppender {
    /// Makes a group that will be given everything from the first entry on; harmless when it exists.
    func createGroup(_ group: String, on stream: String) async throws(EventBusError)

    /// Opens a reader for one consumer of a group; each has a connection of its own, because it waits.
    func openReader(_ consumer: GroupConsumer) async throws(EventBusError) -> any GroupReader

    /// Opens a reader of all entries that are appended from now on, outside of any group.
    func openTail(streams: [String]) async throws(EventBusError) -> any TailReader

    // MARK: Settling. Each returns the entries that are not the consumer's any more; nothing was done to those.

    /// Tells that entries are done which the consumer was given. Doing it twice is harmless.
    func acknowledge(_ ids: [EntryID], by consumer: GroupConsumer) async throws(EventBusError) -> [EntryID]

    /// Takes entries out of the consumer's hands and gives them to the group, and to no other, again after a delay.
    func retry(_ retries: [DelayedRetry], by consumer: GroupConsumer) async throws(EventBusError) -> [EntryID]

    /// Moves entries to the group's dead letters, where they stay until an operator redrives or drops them, or until they are too
    /// old: ``trimDeadLetters(of:age:)``.
    func deadLetter(_ deadLetterRequests: [DeadLetterRequest], by consumer: GroupConsumer) async throws(EventBusError) -> [EntryID]

    /// Gives entries back that were not worked on: any consumer may claim them at once, and the delivery does not count.
    func release(_ ids: [EntryID], by consumer: GroupConsumer) async throws(EventBusError) -> [EntryID]

    /// Gives a sign of life for entries that a consumer is still working on, so that nobody claims them.
    func keep(_ ids: [EntryID], by consumer: GroupConsumer) async throws(EventBusError) -> [EntryID]

    /// Counts a delivery of suspects that a claim brought, just before they are worked on.
    func begin(_ suspects: [EntryID], by consumer: GroupConsumer) async throws(EventBusError) -> [EntryID]

    // MARK: Tending a group. Any of its consumers may do these at any time.

    /// Takes over entries of consumers that gave no sign of life, and counts a delivery of each but a suspect: that is counted
    /// when it is begun, so that a consumer which dies before, for another reason, is not held against it.
    func claim(_ request: ClaimRequest, for consumer: GroupConsumer) async throws(EventBusError) -> ClaimedEntries

    /// Appends what waited for a retry and is due, at most `limit` entries.
    func resumeRetries(of group: StreamGroup, limit: Int) async throws(EventBusError) -> ResumedRetries

    /// Deletes the entries that all groups of a stream have settled.
    ///
    /// - Parameter age: Of a stream without any group, entries older than this; nil leaves such a stream alone.
    /// - Returns: How many were deleted.
    @discardableResult
    func trim(_ stream: String, ungroupedAge age: Duration?) async throws(EventBusError) -> Int

    /// Deletes a group's dead letters that are older than `age`.
    ///
    /// - Returns: How many were deleted.
    @discardableResult
    func trimDeadLetters(of group: StreamGroup, age: Duration) async throws(EventBusError) -> Int

    /// Takes a consumer off its group, unless it still has pending entries, which would be lost with it.
    ///
    /// - Returns: Whether it was taken off.
    @discardableResult
    func retire(_ consumer: GroupConsumer) async throws(EventBusError) -> Bool

    /// Takes off all consumers that have nothing pending and were not heard of for `idle`: they died without retiring.
    ///
    /// - Returns: How many were taken off.
    @discardableResult
    func retireIdle(of group: StreamGroup, idle: Duration) async throws(EventBusError) -> Int

    // MARK: Looking

    /// Returns those of the published messages that the group has neither before it, nor in a consumer's hands, nor set aside
    /// for a retry: they were settled, or the server lost them. The inbox knows which.
    func absent(
        _ messages: [PublishedMessage], from group: StreamGroup
    ) async throws(EventBusError) -> [PublishedMessage]

    /// Tells how a group stands; zeros when the stream or the group does not exist.
    func status(of group: StreamGroup) async throws(EventBusError) -> GroupStatus

    /// Returns dead letters of a group, the oldest first, at most `count`.
    ///
    /// - Parameter id: Only those after this one.
    func deadLetters(
        of group: StreamGroup, after id: EntryID, count: Int
    ) async throws(EventBusError) -> [DeadLetter]

    /// Gives dead letters to the group again, with all their budgets; each once, whoever else asks at the same time.
    ///
    /// - Returns: Those that were there and are given again.
    func redrive(_ ids: [EntryID], of group: StreamGroup) async throws(EventBusError) -> [EntryID]

    /// Deletes dead letters for good.
    ///
    /// - Returns: How many were there.
    func drop(_ ids: [EntryID], of group: StreamGroup) async throws(EventBusError) -> Int
}

/// Gives one consumer the entries that its group was not given before.
public protocol GroupReader: Sendable {
    /// Waits up to `wait` for entries and returns at most `count`; none when the time was up or it was interrupted.
    ///
    /// - Parameter acknowledging: Entries that are done, in ascending order; acknowledged on the way, before the read.
    func read(
        count: Int, wait: Duration, acknowledging: [EntryID]
    ) async throws(EventBusError) -> ReadEntries

    /// Makes a waiting read return at once without losing an entry; a read that does not wait yet is not affected.
    func interrupt() async

    /// Gives back what the reader holds. The entries it was given stay pending.
    func close() async
}

/// Gives the entries of streams as they are appended.
public protocol TailReader: Sendable {
    /// Waits up to `wait` for entries after those it gave before.
    func read(count: Int, wait: Duration) async throws(EventBusError) -> [TailEntry]

    /// Makes a waiting read return at once.
    func interrupt() async

    /// Gives back what the reader holds.
    func close() async
}
