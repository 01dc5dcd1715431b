public import FoundationEssentials
public import WireFormat

/// An entry to append.
public struct OutgoingEntry: Sendable {
    /// The stream to append to, without the transport's prefix.
    public let stream: String
    let contents: Contents

    /// A message is not split into fields here: a driver may write it without allocating a field for each part.
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

    /// Makes an entry with any fields; they need not be a message.
    public init(stream: String, fields: [StreamField]) {
        self.stream = stream
        contents = .fields(fields)
    }

    /// Makes the entry that carries a message.
    ///
    /// - Parameter groups: The groups that alone are to handle it; nil for all groups.
    public init(stream: String, envelope: EncodedEnvelope, onlyGroups groups: [String]? = nil) {
        self.stream = stream
        if let groups {
            // Names of groups do not contain commas.
            let names = Array(groups.joined(separator: ",").utf8)
            contents = .fields(envelope.streamFields + [(RetryField.failures, Array("0".utf8)), (RetryField.groups, names)])
        } else {
            contents = .envelope(envelope)
        }
    }
}

/// A message and the entry that carried it when it was published last.
public struct PublishedMessage: Sendable, Hashable {
    /// The id of the message, the same in every entry that carries it.
    public let id: UUID
    /// The entry that carried the message when it was published last; `outbox.entry_id`.
    public let entryID: EntryID

    /// Names a message by its id and the entry that carried it last.
    public init(id: UUID, entryID: EntryID) {
        self.id = id
        self.entryID = entryID
    }
}

/// An entry that was delivered to a consumer, which has to settle it.
///
/// A class, because it is passed on several times until it is settled, and its message has many parts.
public final class DeliveredEntry: Sendable {
    /// The id of the entry in its stream; a retried message has a new one.
    public let id: EntryID
    /// The message that the entry carries, or why it cannot be read. Decoded when it is delivered, so that the reply of the server, which
    /// has hundreds of them, need not wait for the slowest handler; the body stays encoded.
    public let message: Result<EncodedEnvelope, WireFormatError>
    /// The id of the message; nil when it cannot be read.
    let messageID: UUID?
    /// The number of deliveries of the entry to consumers of the group, this one included. More than 1 means that a consumer
    /// died, or was taken for dead, while it held the entry: after a failure of its handler, a message comes back as another
    /// entry.
    public let deliveryCount: Int
    /// The number of failures of the group's handler with the message; survives every restart.
    public let failures: Int
    /// The groups that alone are to handle the entry; nil when all are.
    public let onlyGroups: [String]?
    /// The fields of an entry whose message cannot be read, without the fields that its retries have added, and cut off at ``maxRawBytes``;
    /// otherwise empty.
    private let rawFields: [StreamField]

    /// The most bytes that are kept of an entry whose message cannot be read.
    static let maxRawBytes = 65_536
    /// The most fields that are kept of such an entry.
    static let maxRawFields = 1000

    /// Decodes an entry as it is delivered; `deliveryCount` is the count of the server, this delivery included.
    public init(id: EntryID, contents: some StreamFields, deliveryCount: Int) {
        self.id = id
        self.deliveryCount = deliveryCount
        do throws(WireFormatError) {
            let message = try EncodedEnvelope(streamFields: contents)
            self.message = .success(message)
            messageID = message.id
            rawFields = []
        } catch {
            message = .failure(error)
            rawFields = Self.rawFields(contents)
            // What else is wrong with a message, its id may be readable.
            messageID = rawFields.first { $0.name == EncodedEnvelope.Field.id.name }.flatMap { UUID(wireBytes: $0.value) }
        }
        var retry = RetryFields()
        contents.read(from: max(0, contents.count - 2)) { retry.read($0, $1) }
        (failures, onlyGroups) = (retry.failures, retry.groups?.split(separator: ",").map(String.init))
    }

    /// Copies the kept part of an entry whose message cannot be read.
    private static func rawFields(_ contents: some StreamFields) -> [StreamField] {
        var (fields, room) = ([StreamField](), maxRawBytes)
        contents.read { name, value in
            guard room > 0, fields.count < maxRawFields, !RetryField.isOne(name) else { return }
            let name = name.prefix(room)
            let value = value.prefix(room - name.count)
            fields.append((String(decoding: name, as: UTF8.self), Array(value)))
            room -= name.count + value.count
        }
        return fields
    }

    /// Makes an entry with a list of fields.
    public convenience init(id: EntryID, fields: [StreamField], deliveryCount: Int) {
        self.init(id: id, contents: StreamFieldList(fields), deliveryCount: deliveryCount)
    }

    /// The entry as it was published, without the fields that its retries have added; see ``maxRawBytes``.
    var fields: [StreamField] {
        switch message {
        case .success(let envelope): envelope.streamFields
        case .failure: rawFields
        }
    }

    /// The number of consumers that died while they held the entry.
    var crashes: Int { max(0, deliveryCount - 1) }
}

/// The fields that a retry has besides those of the message, in this order, at the end; their names have one byte.
enum RetryField {
    /// The number of failures of the handler.
    static let failures = "a"
    /// The groups that alone are to handle the message, separated by commas.
    static let groups = "g"

    static func isOne(_ name: UnsafeRawBufferPointer) -> Bool {
        name.count == 1 && (name[0] == failures.utf8.first || name[0] == groups.utf8.first)
    }
}

/// The content of a retry's fields; only the last fields of an entry count.
private struct RetryFields {
    private var last: (failures: Int?, groups: String?) = (nil, nil)
    private var number: Int?

    var failures: Int { last.groups == nil ? 0 : last.failures ?? 0 }
    var groups: String? { last.groups }

    mutating func read(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        let failures = number
        (number, last) = (nil, (nil, nil))
        guard name.count == 1 else { return }
        if name[0] == RetryField.failures.utf8.first {
            // An entry by another program must not overflow the sums of attempts.
            number = Int(String(decoding: value, as: UTF8.self)).map { min(max($0, 0), Int(Int32.max)) }
        } else if name[0] == RetryField.groups.utf8.first {
            last = (failures, String(decoding: value, as: UTF8.self))
        }
    }
}

/// The result of a read.
public struct ReadEntries: Sendable {
    /// The new entries, in the order of the stream; empty when no entry arrived in time.
    public let entries: [DeliveredEntry]
    /// The entries to acknowledge that the consumer no longer holds; nil when the acknowledgement failed.
    public let gone: [EntryID]?
}

/// An entry that was read outside of any group.
public struct TailEntry: Sendable {
    /// The stream of the entry, without the transport's prefix.
    public let stream: String
    /// The id of the entry in its stream.
    public let id: EntryID
    /// The fields, where the transport keeps them.
    public let contents: any StreamFields
}
