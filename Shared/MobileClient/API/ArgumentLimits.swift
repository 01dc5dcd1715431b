internal import Foundation

/// The limits of the API (docs/api) that a call is checked against before a request is sent.
///
/// Each check throws `invalid_argument` with the field of the request. No check is stricter than the API, which may still refuse an
/// argument that passes.
enum ArgumentLimits {
    static let maxListedPeople = 1_000
    static let maxTextBytes = 16 * 1_024
    static let maxPhotoBytes = 10 * 1_024 * 1_024
    static let memberPages = 1...1_000
    static let listPages = 1...200

    /// Returns the address without white space around it.
    static func email(_ text: String) throws(HeliographError) -> String {
        let address = text.trimmingCharacters(in: .whitespacesAndNewlines)
        let parts = address.split(separator: "@", omittingEmptySubsequences: false)
        guard address.utf8.count <= 254, parts.count == 2, 1...64 ~= parts[0].utf8.count, parts[1].contains("."),
            !address.contains(where: \.isWhitespace)
        else { throw refusal("email", "This is not an e-mail address") }
        return address
    }

    /// Returns the name without white space around it.
    static func displayName(_ text: String) throws(HeliographError) -> String {
        let name = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard 1...50 ~= name.count, name.utf8.count <= 400, !name.contains(where: \.isNewline), !name.utf8.contains(where: { $0 < 0x20 })
        else { throw refusal("display_name", "A name has 1 to 50 characters on one line") }
        return name
    }

    /// Returns the code without the white space that people type into it.
    static func code(_ text: String) throws(HeliographError) -> String {
        let code = String(text.filter { !$0.isWhitespace })
        guard 1...16 ~= code.utf8.count, !code.utf8.contains(0) else { throw refusal("code", "A code has six digits") }
        return code
    }

    /// Returns the letters without the white space that people type into them.
    static func reference(_ text: String) throws(HeliographError) -> String {
        let letters = String(text.filter { !$0.isWhitespace })
        guard 1...16 ~= letters.utf8.count, !letters.utf8.contains(0) else { throw refusal("reference", "A reference has four letters") }
        return letters
    }

    /// Returns the name of a topic of this kind, such as `event:42`.
    static func topic(_ kind: TopicAccess.Kind, _ id: String) throws(HeliographError) -> String {
        guard id.isPlain(upTo: 64) else {
            throw refusal("topic", "The id of an event or a conversation is 1 to 64 characters of A-Z a-z 0-9 _ -")
        }
        return "\(kind.rawValue):\(id)"
    }

    static func messageID(_ id: String) throws(HeliographError) {
        guard id.isPlain(upTo: 48, dots: true) else {
            throw refusal("message_id", "A message's id is 1 to 48 characters of A-Z a-z 0-9 _ - .")
        }
    }

    static func message(_ message: ChatClient.Message) throws(HeliographError) {
        try messageID(message.id)
        guard let text = message.text else {
            guard message.isSensitive else { throw refusal("text", "Only a sensitive message may have no text") }
            return
        }
        guard message.isSensitive || !text.isEmpty else { throw refusal("text", "A text is not empty") }
        guard text.utf8.count <= maxTextBytes, !text.utf8.contains(0) else { throw refusal("text", "A text has up to 16 KB") }
    }

    static func report(_ report: ContentReport) throws(HeliographError) {
        guard let text = report.text else { return }
        guard text.count <= 1_000, text.utf8.count <= 8_000, !text.utf8.contains(0) else {
            throw refusal("text", "The text of a report has up to 1,000 characters")
        }
    }

    static func people(_ userIDs: [UUID]) throws(HeliographError) {
        guard userIDs.count <= maxListedPeople else { throw refusal("user_ids", "A list has up to 1,000 people") }
    }

    static func page(_ limit: Int) throws(HeliographError) {
        guard memberPages ~= limit else { throw refusal("limit", "A page has 1 to 1,000 members") }
    }

    static func listPage(_ limit: Int) throws(HeliographError) {
        guard listPages ~= limit else { throw refusal("limit", "A page has 1 to 200 elements") }
    }

    static func refusal(_ field: String, _ message: String) -> HeliographError {
        HeliographError(.invalidArgument, message, field: field)
    }
}
