internal import CommandLineSupport
internal import EventBus
internal import FoundationEssentials
internal import WireFormat

/// A dead letter with all fields, as JSON and as text.
struct DeadLetterReport: Report {
    let letter: DeadLetter

    init(_ letter: DeadLetter) { self.letter = letter }

    private var body: String? { letter.envelope.map { String(decoding: $0.body, as: UTF8.self) } }

    /// The raw fields of an entry that cannot be decoded, as text in which invalid UTF-8 is replaced; otherwise nil.
    private var rawFields: [(name: String, value: String)]? {
        letter.envelope == nil ? letter.fields.map { ($0.name, String(decoding: $0.value, as: UTF8.self)) } : nil
    }

    /// Every field on a line of its own; the body as indented JSON.
    func lines(_ style: TextStyle) -> [PrintableText] {
        let envelope = letter.envelope
        let optional: [(String, String?)] = [
            ("stream", letter.group.stream), ("group", letter.group.name), ("dead letter", letter.id.wireString),
            ("was entry", letter.entryID),
            ("dead since", HumanUnits.timestamp(letter.deadLetteredAt)), ("by", letter.consumer),
            ("reason", letter.reason.rawValue), ("failures", "\(letter.failures)"), ("crashes", "\(letter.crashes)"),
            ("error", letter.error),
            ("type", envelope.map { "\($0.type.rawValue) (version \($0.version))" }), ("key", envelope?.key),
            ("occurred", envelope.map { HumanUnits.timestamp($0.occurredAt) }),
            ("expires", (envelope?.expiresAt).map(HumanUnits.timestamp)), ("request", envelope?.requestID),
            ("traceparent", envelope?.traceparent),
        ]
        let fields = optional.compactMap { name, value in value.map { (name, $0) } } + (rawFields ?? [])
        let width = fields.map(\.0.count).max() ?? 0
        var lines = fields.map { name, value in
            let label = PrintableText(name + String(repeating: " ", count: width - name.count))
            return style.apply(.faint, to: label) + "  \(value)"
        }
        if let body {
            lines.append(style.apply(.faint, to: "body"))
            lines += (JSONOutput.pretty(Array(body.utf8)) ?? [PrintableText(body)]).map { "  \($0)" }
        }
        return lines
    }

    func encode(to encoder: any Encoder) throws {
        let envelope = letter.envelope
        let record: JSONRecord = [
            "stream": letter.group.stream, "group": letter.group.name, "id": letter.id.wireString, "entry_id": letter.entryID,
            "reason": letter.reason.rawValue, "error": letter.error, "failures": letter.failures, "crashes": letter.crashes,
            "consumer": letter.consumer, "dead_lettered_at": letter.deadLetteredAt, "message_id": envelope?.id.wireString,
            "type": envelope?.type.rawValue, "version": envelope?.version, "key": envelope?.key, "occurred_at": envelope?.occurredAt,
            "expires_at": envelope?.expiresAt, "request_id": envelope?.requestID, "traceparent": envelope?.traceparent, "body": body,
            "fields": rawFields?.map { ["name": $0.name, "value": $0.value] },
        ]
        try record.encode(to: encoder)
    }
}
