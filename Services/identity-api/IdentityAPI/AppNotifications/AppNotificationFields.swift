internal import FoundationEssentials
internal import JSON
internal import Push
internal import WireFormat

/// The texts and the data of a notification.
struct AppTexts: Sendable {
    let title: String?
    let body: String?
    let data: [String: String]
}

/// What a phone shows and plays beside the texts of a notification.
struct AppLook: Sendable {
    let image: String?
    let sound: String?
    let thread: String?
    let collapseKey: String?
}

extension BodyFields<AppTexts> {
    static let texts = BodyFields(
        .appText("title", AppNotificationBody.maxTitleCharacters, lineBreaks: false),
        .appText("body", AppNotificationBody.maxBodyCharacters, lineBreaks: true), .data
    ) { AppTexts(title: $0, body: $1, data: $2) }
}

extension BodyFields<AppLook> {
    static let look = BodyFields(.image, .name("sound"), .name("thread"), .name("collapse_key")) {
        AppLook(image: $0, sound: $1, thread: $2, collapseKey: $3)
    }
}

extension BodyFields<[UUID]?> {
    static let someUserIDs = BodyFields(
        "user_ids", .array(of: .uuid, upTo: AppNotification.maxRecipients).orNull, isRequired: false
    ) { body, name throws(APIError) in
        try body.array(name) == nil ? nil : try body.userIDs(name, upTo: AppNotification.maxRecipients)
    }
}

extension BodyFields<Lane?> {
    static let lane = BodyFields("lane", .one(of: Lane.self).orNull, isRequired: false) { body, name throws(APIError) in
        guard let text = try body.word(name) else { return nil }
        guard let lane = Lane(rawValue: text) else {
            throw APIError(.invalidRequest, "A lane is urgent, normal or bulk", field: name)
        }
        return lane
    }
}

extension BodyFields<String> {
    static let appKind = BodyFields("kind", .text(1...AppNotificationBody.maxNameLength, pattern: "^[a-z0-9_.-]+$")) {
        body, name throws(APIError) in
        let kind = try body.requiredWord(name)
        guard kind.utf8.count <= AppNotificationBody.maxNameLength, kind.utf8.allSatisfy(isOfKind) else {
            throw APIError(
                .invalidRequest, "A kind is 1 to \(AppNotificationBody.maxNameLength) characters of a-z 0-9 _ . -", field: name)
        }
        guard NotificationKind(rawValue: kind) == nil else {
            throw APIError(.invalidRequest, "The kind is one of this system's own", field: name)
        }
        return kind
    }
}

extension BodyFields<String?> {
    static let someTopic = BodyFields("topic", .topicName.orNull, isRequired: false) { body, name throws(APIError) in
        guard let text = try body.word(name) else { return nil }
        guard TopicName(text) != nil else { throw APIError(.invalidRequest, "The topic is not the name of a topic", field: name) }
        return text
    }

    /// A key; nil for a placeholder such as `null`: unrelated notifications that have it would be repetitions.
    static let dedupeKey = BodyFields(
        "dedupe_key", .text(1...AppNotificationBody.maxDedupeKeyLength).orNull, isRequired: false
    ) { body, name throws(APIError) in
        guard let key = try body.word(name), !key.isPlaceholder else { return nil }
        guard key.unicodeScalars.count <= AppNotificationBody.maxDedupeKeyLength else {
            throw APIError(.invalidRequest, "A key has 1 to \(AppNotificationBody.maxDedupeKeyLength) characters", field: name)
        }
        return key
    }

    static let image = BodyFields(
        PictureAddress.field, .text(0...PictureAddress.maxBytes, pattern: "^https://").orNull, isRequired: false
    ) { body, _ throws(APIError) in try PictureAddress(body)?.text }

    /// A text of up to so many characters, as a reader counts them.
    static func appText(_ name: String, _ maxCharacters: Int, lineBreaks: Bool) -> BodyFields {
        BodyFields(name, .text(0...maxCharacters).orNull, isRequired: false) { body, name throws(APIError) in
            guard let text = try body.text(name) else { return nil }
            let isPlain = text.unicodeScalars.allSatisfy { scalar in
                scalar.properties.generalCategory != .control || (lineBreaks && scalar == "\n")
            }
            let maxBytes = maxCharacters * AppNotificationBody.maxBytesPerCharacter
            guard text.count <= maxCharacters, text.utf8.count <= maxBytes, isPlain else {
                throw APIError(.invalidRequest, "The text has up to \(maxCharacters) characters and no control characters", field: name)
            }
            return text
        }
    }

    /// The name of a sound, of a thread or of a key.
    static func name(_ name: String) -> BodyFields {
        let maxLength = AppNotificationBody.maxNameLength
        return BodyFields(name, .text(1...maxLength, pattern: "^[A-Za-z0-9_.:-]+$").orNull, isRequired: false) {
            body, name throws(APIError) in
            guard let text = try body.word(name), !text.isPlaceholder else { return nil }
            let isName = text.utf8.allSatisfy { byte in
                isOfKind(byte) || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte || byte == UInt8(ascii: ":")
            }
            guard 1...maxLength ~= text.utf8.count, isName else {
                throw APIError(.invalidRequest, "A name is 1 to \(maxLength) characters of A-Z a-z 0-9 _ . - :", field: name)
            }
            return text
        }
    }
}

extension BodyFields<[String: String]> {
    static let data = BodyFields(
        "data", .map(of: .text).orNull.described("What the app gets with the push, as texts"), isRequired: false
    ) { body, name throws(APIError) in
        guard let members = try body.object(name) else { return [:] }
        guard JSONValue.object(members).bytes.count <= AppNotificationBody.maxDataBytes else {
            throw APIError(.invalidRequest, "The data has up to \(AppNotificationBody.maxDataBytes) bytes as JSON", field: name)
        }
        var data: [String: String] = [:]
        for member in members {
            guard case .string(let value) = member.value, !value.utf8.contains(0) else {
                throw APIError(.invalidRequest, "The values of the data are texts", field: name)
            }
            guard !member.name.showsNothing else {
                throw APIError(.invalidRequest, "The data has a name that shows nothing", field: name)
            }
            guard !isReserved(member.name) else {
                throw APIError(.invalidRequest, "The data has a name that Firebase or this system reserves", field: name)
            }
            data[member.name] = value
        }
        return data
    }
}

/// Whether FCM refuses a name of data, or every push has it.
private func isReserved(_ name: String) -> Bool {
    let lowercased = name.lowercased()
    return ["from", "message_type", "notification", "kind", "type", "notification_id"].contains(lowercased)
        || lowercased.hasPrefix("google") || lowercased.hasPrefix("gcm") || name.utf8.contains(0)
}

private func isOfKind(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."),
        UInt8(ascii: "-"):
        true
    default: false
    }
}
