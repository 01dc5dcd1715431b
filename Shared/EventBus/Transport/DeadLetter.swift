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

/// An entry to move to the dead letters, with the facts that are kept about it.
public struct DeadLetterRequest: Sendable {
    /// The most bytes of an error's text that are kept.
    public static let maxErrorBytes = 2048

    public let id: EntryID
    /// The message's id; nil when it cannot be read.
    public let messageID: UUID?
    public let reason: DeadLetterReason
    /// The last error, for the operator; cut off at ``maxErrorBytes``.
    public let error: String
    public let failures: Int
    public let crashes: Int

    public init(
        id: EntryID, messageID: UUID? = nil, reason: DeadLetterReason, error: String, failures: Int, crashes: Int
    ) {
        self.id = id
        self.messageID = messageID
        self.reason = reason
        self.error = String(decoding: error.utf8.prefix(Self.maxErrorBytes), as: UTF8.self)
        self.failures = failures
        self.crashes = crashes
    }
}

/// A message that a group does not attempt again until an operator requeues it.
public struct DeadLetter: Sendable {
    /// Its entry id in the stream of dead letters.
    public let id: EntryID
    /// Its entry id in the stream where it failed.
    public let entryID: String
    public let reason: DeadLetterReason?
    public let error: String
    public let failures: Int
    public let crashes: Int
    /// The consumer that dead-lettered it.
    public let consumer: String
    /// The message as it was published.
    public let fields: [StreamField]

    /// The time of dead-lettering, by the server's clock.
    public var deadLetteredAt: Date { Date(timeIntervalSince1970: Double(id.milliseconds) / 1000) }

    /// The message; nil when it cannot be read.
    public var envelope: EncodedEnvelope? { try? EncodedEnvelope(streamFields: fields) }

    /// The fields that a dead letter has besides those of the message.
    enum Field {
        static let reason = "dr"
        static let error = "de"
        static let failures = "df"
        static let crashes = "dc"
        static let consumer = "dw"
        static let entry = "do"
        static let all: Set<String> = [reason, error, failures, crashes, consumer, entry]
    }

    init(id: EntryID, fields: [StreamField]) {
        func text(_ name: String) -> String {
            fields.first { $0.name == name }.map { String(decoding: $0.value, as: UTF8.self) } ?? ""
        }
        self.id = id
        entryID = text(Field.entry)
        reason = DeadLetterReason(rawValue: text(Field.reason))
        error = text(Field.error)
        failures = Int(text(Field.failures)) ?? 0
        crashes = Int(text(Field.crashes)) ?? 0
        consumer = text(Field.consumer)
        self.fields = fields.filter { !Field.all.contains($0.name) }
    }

    /// The fields of the dead letter that an entry becomes.
    static func fields(_ entry: [StreamField], _ id: EntryID, _ request: DeadLetterRequest, consumer: String) -> [StreamField] {
        func field(_ name: String, _ text: String) -> StreamField { (name, Array(text.utf8)) }
        return entry.filter { $0.name != RetryField.failures && $0.name != RetryField.group } + [
            field(Field.reason, request.reason.rawValue), field(Field.error, request.error),
            field(Field.failures, "\(request.failures)"), field(Field.crashes, "\(request.crashes)"),
            field(Field.consumer, consumer), field(Field.entry, "\(id)"),
        ]
    }
}
