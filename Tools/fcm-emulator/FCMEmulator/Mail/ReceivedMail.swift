public import FoundationEssentials
import JSON

/// An accepted mail, with the parts that a person sees.
public struct ReceivedMail: Sendable {
    /// Its number: the first mail since the start has 0.
    public internal(set) var number = 0
    /// Time of its acceptance, by the emulator's clock.
    public let receivedAt: Date
    /// The sender of the envelope.
    public let from: String
    /// The recipients of the envelope.
    public let recipients: [String]
    /// Whether it came over TLS.
    public let isTLS: Bool
    /// The header fields in their order, unfolded, encoded words decoded.
    public let fields: [(name: String, value: String)]
    /// The text, decoded, with `\n` as line end.
    public let text: String
    /// The bytes of the mail.
    public let content: [UInt8]

    init(_ mail: SMTPMail, receivedAt: Date) {
        self.receivedAt = receivedAt
        (from, recipients, isTLS, content) = (mail.from, mail.recipients, mail.isTLS, mail.content)
        let reader = MailReader(mail.content)
        (fields, text) = (reader.fields, reader.text)
    }

    /// The value of the first field of that name; nil without such a field.
    public func field(_ name: String) -> String? { fields.first { $0.name.lowercased() == name.lowercased() }?.value }

    /// The subject; empty without a subject.
    public var subject: String { field("Subject") ?? "" }

    /// Whether the mail is to that address, in any case of its letters; nil: always.
    func isTo(_ address: String?) -> Bool {
        guard let address = address?.lowercased() else { return true }
        return recipients.contains { $0.lowercased() == address }
    }

    /// The JSON that the control API and the page show.
    var json: JSONValue {
        var json: JSONValue = [:]
        json["number"] = .integer(number)
        json["received_at"] = .string(RFC3339.string(receivedAt))
        json["from"] = .string(from)
        json["to"] = .array(recipients.map(JSONValue.string))
        json["subject"] = .string(subject)
        json["text"] = .string(text)
        json["message_id"] = field("Message-ID").map(JSONValue.string)
        json["sender"] = field("From").map(JSONValue.string)
        json["tls"] = .bool(isTLS)
        return json
    }
}
