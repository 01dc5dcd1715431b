internal import FoundationEssentials
internal import JSON
internal import Push
internal import Storage
internal import WireFormat

/// A validated notification of an app's own server, as requested: its content, recipients and time.
///
/// Its JSON form has sorted keys and no absent members, so a repetition of the request has the same form.
struct AppNotificationBody: Encodable, Sendable {
    /// The most characters of a title, and of a body, as a reader counts them.
    static let maxTitleCharacters = 100, maxBodyCharacters = 400
    /// The maximum size of a text in bytes for each of its characters, because a character may have any number of them.
    private static let maxBytesPerCharacter = 8
    /// The maximum size of the data as JSON: more would not leave room for the texts in FCM's 4 KB.
    static let maxDataBytes = 2_048
    /// The maximum number of characters of names: of sounds, threads, keys.
    static let maxNameLength = 64
    static let maxDedupeKeyLength = 128

    private static let fields = Set(APIOperation.notificationRequest.json["properties"]?.members?.map(\.name) ?? [])

    let content: AppContent
    /// The users, without repetitions; empty for a topic.
    let userIDs: [UUID]
    let topic: String?
    let lane: Lane?
    let dedupeKey: String?
    let notBefore: Date?
    let expiresAt: Date?

    /// Reads a request.
    ///
    /// - Throws: `missing_field` or `invalid_request` with the name of the field.
    init(_ body: JSONBody) throws(APIError) {
        // The sender is a server of the app, and not an app of a later version: an unknown field is a misspelt one.
        if let unknown = body.names.subtracting(Self.fields).min() {
            throw APIError(.invalidRequest, "There is no such field", field: unknown)
        }
        content = AppContent(
            kind: try Self.kind(body), title: try Self.text("title", body, Self.maxTitleCharacters, lineBreaks: false),
            body: try Self.text("body", body, Self.maxBodyCharacters, lineBreaks: true), data: try Self.data(body),
            image: try PictureAddress(body)?.text, sound: try Self.name("sound", body), thread: try Self.name("thread", body),
            collapseKey: try Self.name("collapse_key", body))
        topic = try body.word("topic").map { text throws(APIError) in
            guard TopicName(text) != nil else { throw APIError(.invalidRequest, "The topic is not the name of a topic", field: "topic") }
            return text
        }
        let namesUsers = try body.array("user_ids").map { !$0.isEmpty } ?? false
        guard topic == nil || !namesUsers else {
            throw APIError(.invalidRequest, "A notification is for user_ids, or for a topic", field: "user_ids")
        }
        userIDs = topic == nil ? try body.userIDs("user_ids", upTo: AppNotification.maxRecipients) : []
        guard topic != nil || !userIDs.isEmpty else {
            throw APIError(.invalidRequest, "Name a topic or at least one user", field: "user_ids")
        }
        lane = try body.word("lane").map { text throws(APIError) in
            guard let lane = Lane(rawValue: text) else {
                throw APIError(.invalidRequest, "A lane is urgent, normal or bulk", field: "lane")
            }
            return lane
        }
        dedupeKey = try Self.key(body)
        (notBefore, expiresAt) = (try body.instant("not_before"), try body.instant("expires_at"))
        guard content.isShown || (content.image == nil && content.sound == nil && content.thread == nil) else {
            throw APIError(.missingField, "A push that is shown has a title or a body", field: "title")
        }
    }

    private static func kind(_ body: JSONBody) throws(APIError) -> String {
        let kind = try body.requiredWord("kind")
        guard kind.utf8.count <= maxNameLength, kind.utf8.allSatisfy(isOfKind) else {
            throw APIError(.invalidRequest, "A kind is 1 to \(maxNameLength) characters of a-z 0-9 _ . -", field: "kind")
        }
        guard NotificationKind(rawValue: kind) == nil else {
            throw APIError(.invalidRequest, "The kind is one of this system's own", field: "kind")
        }
        return kind
    }

    /// The dedupe key; nil for a placeholder such as `null`: unrelated notifications that have it would be repetitions.
    private static func key(_ body: JSONBody) throws(APIError) -> String? {
        guard let key = try body.word("dedupe_key"), !key.isPlaceholder else { return nil }
        guard key.unicodeScalars.count <= maxDedupeKeyLength else {
            throw APIError(.invalidRequest, "A key has 1 to \(maxDedupeKeyLength) characters", field: "dedupe_key")
        }
        return key
    }

    private static func text(_ name: String, _ body: JSONBody, _ maxCharacters: Int, lineBreaks: Bool) throws(APIError) -> String? {
        guard let text = try body.text(name) else { return nil }
        let isPlain = text.unicodeScalars.allSatisfy { scalar in
            scalar.properties.generalCategory != .control || (lineBreaks && scalar == "\n")
        }
        guard text.count <= maxCharacters, text.utf8.count <= maxCharacters * maxBytesPerCharacter, isPlain else {
            throw APIError(.invalidRequest, "The text has up to \(maxCharacters) characters and no control characters", field: name)
        }
        return text
    }

    private static func name(_ field: String, _ body: JSONBody) throws(APIError) -> String? {
        guard let name = try body.word(field), !name.isPlaceholder else { return nil }
        let isName = name.utf8.allSatisfy { byte in
            isOfKind(byte) || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte || byte == UInt8(ascii: ":")
        }
        guard 1...maxNameLength ~= name.utf8.count, isName else {
            throw APIError(.invalidRequest, "A name is 1 to \(maxNameLength) characters of A-Z a-z 0-9 _ . - :", field: field)
        }
        return name
    }

    private static func data(_ body: JSONBody) throws(APIError) -> [String: String] {
        guard let members = try body.object("data") else { return [:] }
        guard JSONValue.object(members).bytes.count <= maxDataBytes else {
            throw APIError(.invalidRequest, "The data has up to \(maxDataBytes) bytes as JSON", field: "data")
        }
        var data: [String: String] = [:]
        for member in members {
            guard case .string(let value) = member.value, !value.utf8.contains(0) else {
                throw APIError(.invalidRequest, "The values of the data are texts", field: "data")
            }
            guard !member.name.showsNothing else {
                throw APIError(.invalidRequest, "The data has a name that shows nothing", field: "data")
            }
            guard !isReserved(member.name) else {
                throw APIError(.invalidRequest, "The data has a name that Firebase or this system reserves", field: "data")
            }
            data[member.name] = value
        }
        return data
    }

    /// Whether FCM refuses a name of data, or every push has it.
    private static func isReserved(_ name: String) -> Bool {
        let lowercased = name.lowercased()
        return ["from", "message_type", "notification", "kind", "type", "notification_id"].contains(lowercased)
            || lowercased.hasPrefix("google") || lowercased.hasPrefix("gcm") || name.utf8.contains(0)
    }

    private static func isOfKind(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
