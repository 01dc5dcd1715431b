public import FoundationEssentials
public import WireFormat

/// A message to append to `outbox`.
public struct NewOutboxMessage: Sendable {
    /// The message.
    public let envelope: EncodedEnvelope
    /// The stream.
    public let stream: String
    /// The consumer groups that must handle it; the row stays open until all of them have handled it.
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
    /// The row's number; increases with every append.
    public let id: Int64
    /// The stream.
    public let stream: String
    /// The message.
    public let envelope: EncodedEnvelope
    /// The groups that alone are to handle it, because they are given dead letters again; nil for all groups of the stream.
    public let onlyGroups: [String]?
}

/// The state of an outbox message: `waiting → published → confirmed | expired`; a lost message, and one whose dead letter is redriven,
/// returns to `waiting`.
public enum OutboxState: String, Sendable, CaseIterable {
    /// The relay has yet to append it to its stream.
    case waiting
    /// It is in its stream, and at least one group has yet to handle it.
    case published
    /// Each of its groups has handled it or made it a dead letter, or it is in its stream and has no groups.
    case confirmed
    /// The stream lost it after it had expired, so it is not republished.
    case expired
}

/// A message and the stream entry of its last publication.
public struct OutboxPublication: Sendable, Hashable {
    /// The message's id.
    public let messageID: UUID
    /// The id of the entry in its stream.
    public let entryID: String

    /// Describes a publication.
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
    /// The groups that have not handled it.
    public let missingGroups: [String]
}

/// The open messages of the outbox.
public struct OutboxBacklog: Sendable, Equatable {
    /// The number of messages that wait for the relay.
    public let waiting: Int
    /// The time when the oldest waiting message was created.
    public let oldestWaitingAt: Date?
    /// The number of published messages that are not confirmed.
    public let unconfirmed: Int
    /// The time when the oldest unconfirmed message was created.
    public let oldestUnconfirmedAt: Date?
}
