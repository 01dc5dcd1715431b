public import FoundationEssentials
public import WireFormat

/// A message to append to `outbox`.
public struct NewOutboxMessage: Sendable {
    /// The message.
    public let envelope: EncodedEnvelope
    /// The stream it belongs in.
    public let stream: String
    /// The consumer groups that have to handle it; the row stays open until all of them have.
    public let groups: [String]

    /// Makes the message of an event.
    ///
    /// - Throws: `WireFormatError` when the event is over a limit.
    public init<Body: Event>(_ envelope: Envelope<Body>) throws(WireFormatError) {
        self.init(try envelope.encoded(), stream: envelope.stream, groups: Body.groups)
    }

    /// Makes a message from its parts.
    public init(_ envelope: EncodedEnvelope, stream: String, groups: [String]) {
        self.envelope = envelope
        self.stream = stream
        self.groups = Set(groups).sorted()
    }
}

/// A message that waits for the relay: a row of `outbox`.
public struct OutboxMessage: Sendable {
    /// The row's number; grows with every append.
    public let id: Int64
    /// The stream it belongs in.
    public let stream: String
    /// The message.
    public let envelope: EncodedEnvelope
}

/// Where a message of the outbox is: `waiting → published → confirmed | dead | expired`; a lost one waits again.
public enum OutboxState: String, Sendable, CaseIterable {
    /// The relay owes it to its stream.
    case waiting
    /// The stream was given it, and somebody has to handle it.
    case published
    /// Every group that has to has handled it; or the stream was given it, and nobody has to.
    case confirmed
    /// It became a dead letter; an operator decides.
    case dead
    /// The stream lost it after its time was over, so it is not published again.
    case expired
}

/// A message and the entry that its last publication became.
public struct OutboxPublication: Sendable, Hashable {
    /// The message's id.
    public let messageID: UUID
    /// The entry's number in its stream.
    public let entryID: String

    /// Notes a publication.
    public init(messageID: UUID, entryID: String) {
        self.messageID = messageID
        self.entryID = entryID
    }
}

/// A published message that some group has not handled for a while.
public struct OverdueMessage: Sendable {
    /// The message and its entry.
    public let publication: OutboxPublication
    /// The stream it was published in.
    public let stream: String
    /// The groups that have to handle it and have not.
    public let missingGroups: [String]
}

/// What the outbox owes.
public struct OutboxBacklog: Sendable, Equatable {
    /// How many messages wait for the relay.
    public let waiting: Int
    /// When the oldest of them was committed.
    public let oldestWaitingAt: Date?
    /// How many are published and not known to be handled.
    public let unconfirmed: Int
    /// When the oldest of them was committed.
    public let oldestUnconfirmedAt: Date?
}
