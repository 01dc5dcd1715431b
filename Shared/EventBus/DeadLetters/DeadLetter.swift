public import FoundationEssentials
public import WireFormat

/// Why a message is a dead letter.
public enum DeadLetterReason: String, Sendable, CaseIterable {
    /// It cannot be read: no envelope, or a body that its type does not allow, or an unknown type or version.
    case unreadable
    /// Its handler has failed ``RetryPolicy/maxFailures`` times.
    case failures
    /// ``RetryPolicy/maxCrashes`` consumers have died while they held it.
    case crashes
}

/// A dead letter to store: an entry that a group gives up, with the facts that are kept about it.
public struct NewDeadLetter: Sendable {
    /// The most bytes of an error's text that are kept.
    public static let maxErrorBytes = 2048

    /// The entry.
    public let entryID: EntryID
    /// The message's id; nil when it cannot be read.
    public let messageID: UUID?
    /// The entry as it was published, without the fields that its retries have added.
    public let fields: [StreamField]
    /// Why it is given up.
    public let reason: DeadLetterReason
    /// The last error, for the operator; cut off at ``maxErrorBytes``.
    public let error: String
    /// The number of failures of its handler.
    public let failures: Int
    /// The number of consumers that died while they held it.
    public let crashes: Int

    /// Describes an entry that is given up.
    public init(
        entryID: EntryID, messageID: UUID?, fields: [StreamField], reason: DeadLetterReason, error: String, failures: Int, crashes: Int
    ) {
        self.entryID = entryID
        self.messageID = messageID
        self.fields = fields
        self.reason = reason
        // Postgres has no NUL in a text.
        let text = String(error.unicodeScalars.map { $0 == "\0" ? "\u{FFFD}" : Character($0) })
        self.error = String(decoding: text.utf8.prefix(Self.maxErrorBytes), as: UTF8.self)
        self.failures = failures
        self.crashes = crashes
    }

    /// Gives up an entry that a consumer holds.
    init(_ entry: DeliveredEntry, _ reason: DeadLetterReason, error: String, failures: Int) {
        self.init(
            entryID: entry.id, messageID: entry.messageID, fields: entry.fields, reason: reason, error: error, failures: failures,
            crashes: entry.crashes)
    }

    /// The id of the dead letter: the id of its message. For an entry without a message id, it is a UUID of version 7 that is derived from
    /// the entry id, so that repeated attempts to give it up create one dead letter.
    public var id: UUID { messageID ?? entryID.asUUID }
}

/// A message that a group does not attempt again until an operator redrives it: a row of `dead_letters`.
public struct DeadLetter: Sendable {
    /// The message's id; of an entry without one see ``NewDeadLetter/id``.
    public let id: UUID
    /// The group that gave it up; other groups of its stream are not concerned.
    public let group: StreamGroup
    /// Its entry id in the stream where it failed.
    public let entryID: String
    /// Why it was given up.
    public let reason: DeadLetterReason
    /// The last error.
    public let error: String
    /// The number of failures of its handler.
    public let failures: Int
    /// The number of consumers that died while they held it.
    public let crashes: Int
    /// The consumer that gave it up.
    public let consumer: String
    /// When it was given up, by the clock of the database.
    public let deadLetteredAt: Date
    /// The message as it was published.
    public let fields: [StreamField]

    /// The message; nil when it cannot be read.
    public var envelope: EncodedEnvelope? { try? EncodedEnvelope(streamFields: fields) }
}

extension EntryID {
    /// The id as a UUID of version 7: 48 bits of milliseconds, and the lower 62 bits of the sequence.
    var asUUID: UUID {
        func time(_ shift: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: milliseconds >> shift) }
        func rest(_ shift: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: sequence >> shift) }
        return UUID(
            uuid: (
                time(40), time(32), time(24), time(16), time(8), time(0), 0x70, 0,
                0x80 | rest(56) & 0x3F, rest(48), rest(40), rest(32), rest(24), rest(16), rest(8), rest(0)
            ))
    }
}
