public import FoundationEssentials
public import WireFormat

/// An entry to append.
public struct OutgoingEntry: Sendable {
    public let stream: String
    let contents: Contents

    /// A message is kept as it is: a driver may write it without making a field of each of its parts.
    enum Contents: Sendable {
        case fields([StreamField])
        case envelope(EncodedEnvelope)
    }

    /// The fields in the order in which they are appended.
    public var fields: [StreamField] {
        switch contents {
        case .fields(let fields): fields
        case .envelope(let envelope): envelope.streamFields
        }
    }

    public init(stream: String, fields: [StreamField]) {
        self.stream = stream
        contents = .fields(fields)
    }

    /// Makes the entry that carries a message.
    public init(stream: String, envelope: EncodedEnvelope) {
        self.stream = stream
        contents = .envelope(envelope)
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

/// An entry that was delivered to a consumer, which has to settle it.
public struct DeliveredEntry: Sendable {
    public let id: EntryID
    public let fields: [StreamField]
    /// The number of deliveries of the entry to consumers of the group, this one included. More than 1 means that a consumer
    /// died, or was taken for dead, while it held the entry: after a failure of its handler, a message comes back as another
    /// entry.
    public let deliveryCount: Int
    /// The number of failures of the group's handler with the message; survives every restart.
    public let failures: Int
    /// The only group that is to handle the entry; nil when all are.
    public let onlyGroup: String?

    public init(id: EntryID, fields: [StreamField], deliveryCount: Int) {
        self.id = id
        self.fields = fields
        self.deliveryCount = deliveryCount
        // Only a retry has these fields, as its last ones.
        guard fields.count > 2, fields[fields.count - 1].name == RetryField.group else {
            failures = 0
            onlyGroup = nil
            return
        }
        onlyGroup = String(decoding: fields[fields.count - 1].value, as: UTF8.self)
        failures = RetryField.number(fields[fields.count - 2])
    }

    /// The id of the message; nil when it cannot be read.
    var messageID: UUID? {
        fields.first { $0.name == EncodedEnvelope.Field.id }.flatMap { UUID(wireBytes: $0.value) }
    }

    /// The number of consumers that died while they held the entry.
    var crashes: Int { max(0, deliveryCount - 1) }
}

/// The fields that a retry has besides those of the message, in this order, at the end.
enum RetryField {
    /// The number of failures of the handler.
    static let failures = "a"
    /// The group that retries the message.
    static let group = "g"

    static func number(_ field: StreamField) -> Int {
        field.name == failures ? Int(String(decoding: field.value, as: UTF8.self)) ?? 0 : 0
    }
}

/// The result of a read.
public struct ReadEntries: Sendable {
    public let entries: [DeliveredEntry]
    /// The entries to acknowledge that the consumer no longer holds; nil when the acknowledgement failed.
    public let gone: [EntryID]?
}

/// An entry that was read outside of any group.
public struct TailEntry: Sendable {
    public let stream: String
    public let id: EntryID
    public let fields: [StreamField]
}
