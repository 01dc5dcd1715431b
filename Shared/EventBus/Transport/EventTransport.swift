public import FoundationEssentials
public import RedisClient
public import WireFormat

/// The number of an entry in its stream: milliseconds and a sequence, growing. The in-memory twin counts the same way.
public typealias EntryID = RedisStreamID

/// What carries messages: streams that keep their entries, and groups that remember what each of them was given.
///
/// Implementations promise: entries of a stream keep the order in which they were appended; every group is given every
/// entry, to one consumer at a time; an entry stays pending until it is acknowledged; groups begin at the first entry.
public protocol EventTransport: Sendable {
    /// Makes a group that will be given everything from the first entry on; harmless when it exists.
    func createGroup(_ group: String, on stream: String) async throws(EventBusError)

    /// Appends entries in one go, each to the end of its stream.
    ///
    /// - Returns: One result an entry, in order: the number it got, or why it was refused.
    /// - Throws: ``EventBusError`` when nothing is known about any of them; then some may have been appended.
    func append(_ entries: [OutgoingEntry]) async throws(EventBusError) -> [Result<EntryID, EventBusError>]

    /// Opens a reader for one consumer of a group; each has a connection of its own, because it waits.
    func openReader(
        group: String, consumer: String, stream: String
    ) async throws(EventBusError) -> any GroupReader

    /// Tells that entries are done. Acknowledging twice is harmless.
    func acknowledge(_ ids: [EntryID], group: String, stream: String) async throws(EventBusError)

    /// Takes over entries whose consumer has had them for `minIdle` without a sign of life, and counts a delivery of each.
    ///
    /// - Parameters:
    ///   - cursor: Where the last call ended; zero to begin.
    ///   - count: At most so many.
    func claim(
        group: String, consumer: String, stream: String, minIdle: Duration, cursor: EntryID, count: Int
    ) async throws(EventBusError) -> ClaimedEntries

    /// Gives a sign of life for entries that a consumer is still working on, so that nobody claims them.
    ///
    /// - Returns: Those that are not this consumer's any more.
    func keep(
        _ ids: [EntryID], group: String, consumer: String, stream: String
    ) async throws(EventBusError) -> [EntryID]

    /// Takes a consumer off its group, unless it still has pending entries, which would be lost with it.
    ///
    /// - Returns: Whether it was taken off.
    @discardableResult
    func retire(consumer: String, group: String, stream: String) async throws(EventBusError) -> Bool

    /// How many entries the group was given and has not acknowledged.
    func pendingCount(group: String, stream: String) async throws(EventBusError) -> Int

    /// Returns those of the published messages that the group has neither before it, nor in a consumer's hands, nor set aside
    /// for a retry: they were settled, or the server lost them. The inbox knows which.
    func absent(
        _ messages: [PublishedMessage], group: String, stream: String
    ) async throws(EventBusError) -> [PublishedMessage]

    /// Opens a reader of all entries that are appended from now on, outside of any group.
    func openTail(streams: [String]) async throws(EventBusError) -> any TailReader
}

/// Gives one consumer the entries that its group was not given before.
public protocol GroupReader: Sendable {
    /// Waits up to `wait` for entries and returns at most `count`; none when the time was up or it was interrupted.
    ///
    /// - Parameter acknowledging: Entries that are done; acknowledged on the way, before the read.
    func read(
        count: Int, wait: Duration, acknowledging: [EntryID]
    ) async throws(EventBusError) -> [DeliveredEntry]

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

/// An entry to append.
public struct OutgoingEntry: Sendable {
    public let stream: String
    public let fields: [StreamField]

    public init(stream: String, fields: [StreamField]) {
        self.stream = stream
        self.fields = fields
    }

    /// The entry that carries a message.
    public init(stream: String, envelope: EncodedEnvelope) {
        self.init(stream: stream, fields: envelope.streamFields)
    }
}

/// A message and the entry that carried it when it was published last.
public struct PublishedMessage: Sendable, Hashable {
    public let id: UUID
    public let entryID: EntryID

    public init(id: UUID, entryID: EntryID) {
        self.id = id
        self.entryID = entryID
    }
}

/// An entry that a consumer was given and has to acknowledge.
public struct DeliveredEntry: Sendable {
    public let id: EntryID
    public let fields: [StreamField]
    /// How often the entry was given to a consumer of the group, this time included.
    public let deliveryCount: Int
}

/// An entry read outside of any group.
public struct TailEntry: Sendable {
    public let stream: String
    public let id: EntryID
    public let fields: [StreamField]
}

/// What a claim brought.
public struct ClaimedEntries: Sendable {
    public let entries: [DeliveredEntry]
    /// Where the next call goes on; zero when the end was reached.
    public let cursor: EntryID
    /// Entries that were pending but are no longer in the stream: lost to this group.
    public let lost: [EntryID]
}
