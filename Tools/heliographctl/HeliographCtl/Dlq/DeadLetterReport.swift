internal import EventBus
internal import FoundationEssentials
internal import WireFormat

/// A dead letter with all fields, as JSON and as text.
struct DeadLetterReport: Encodable {
    /// A field of an entry that cannot be decoded.
    struct RawField: Encodable {
        let name: String
        /// As text; invalid UTF-8 is replaced.
        let value: String
    }

    let stream: String
    let group: String
    let id: String
    let entryID: String
    let reason: String?
    let error: String
    let failures: Int
    let crashes: Int
    let consumer: String
    let deadLetteredAt: Date
    let messageID: String?
    let type: String?
    let version: Int?
    let key: String?
    let occurredAt: Date?
    let expiresAt: Date?
    let requestID: String?
    let traceparent: String?
    /// The body's JSON as text.
    let body: String?
    /// The raw fields of an entry that cannot be decoded; otherwise nil.
    let fields: [RawField]?

    init(_ item: GroupDeadLetter) {
        let letter = item.letter
        let envelope = letter.envelope
        stream = item.group.stream
        group = item.group.name
        id = "\(letter.id)"
        entryID = letter.entryID
        reason = letter.reason?.rawValue
        error = letter.error
        failures = letter.failures
        crashes = letter.crashes
        consumer = letter.consumer
        deadLetteredAt = letter.deadLetteredAt
        messageID = envelope?.id.wireString
        type = envelope?.type.rawValue
        version = envelope?.version
        key = envelope?.key
        occurredAt = envelope?.occurredAt
        expiresAt = envelope?.expiresAt
        requestID = envelope?.requestID
        traceparent = envelope?.traceparent
        body = envelope.map { String(decoding: $0.body, as: UTF8.self) }
        fields =
            envelope == nil
            ? letter.fields.map { RawField(name: $0.name, value: String(decoding: $0.value, as: UTF8.self)) } : nil
    }

    /// Every field on a line of its own; the body as indented JSON.
    func lines(_ style: TextStyle) -> [String] {
        let optional: [(String, String?)] = [
            ("stream", stream), ("group", group), ("dead letter", id), ("was entry", entryID),
            ("dead since", HumanUnits.timestamp(deadLetteredAt)), ("by", consumer), ("reason", reason ?? "unknown"),
            ("failures", "\(failures)"), ("crashes", "\(crashes)"), ("error", error), ("message", messageID),
            ("type", type.map { type in version.map { "\(type) (version \($0))" } ?? type }), ("key", key),
            ("occurred", occurredAt.map(HumanUnits.timestamp)), ("expires", expiresAt.map(HumanUnits.timestamp)),
            ("request", requestID), ("traceparent", traceparent),
        ]
        let fields = optional.compactMap { name, value in value.map { (name, $0) } } + (self.fields ?? []).map { ($0.name, $0.value) }
        let width = fields.map(\.0.count).max() ?? 0
        var lines = fields.map { name, value in
            let label = name.printable + String(repeating: " ", count: width - name.count)
            return style.apply(.faint, to: label) + "  " + value.printable
        }
        if let body {
            lines.append(style.apply(.faint, to: "body"))
            lines += (JSON.pretty(Array(body.utf8)) ?? [body]).map { "  " + $0.printable }
        }
        return lines
    }
}
