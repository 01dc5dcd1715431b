import JSON

/// A documented rule for a field of a message; a message without the field keeps it.
struct MessageRule: Sendable {
    /// Whether a value is as the rule demands; the second argument is the whole message.
    typealias Condition = @Sendable (_ value: JSONValue, _ message: JSONValue) -> Bool

    /// The names that lead to the field.
    private let path: [String]
    private let refusal: FCMRefusal
    private let isKept: Condition

    /// - Parameters:
    ///   - field: The field that the refusal names; nil for the field at the path.
    init(_ path: String, _ text: String, field: String? = nil, isKept: @escaping Condition) {
        self.path = path.split(separator: ".").map(String.init)
        refusal = .invalidField("message." + (field ?? path), text)
        self.isKept = isKept
    }

    /// Throws the refusal of a message that breaks the rule.
    func check(_ message: JSONValue) throws(FCMRefusal) {
        if let value = message.value(at: path), !isKept(value, message) { throw refusal }
    }
}

extension JSONValue {
    /// The value at a path of names; Apple's headers are found in any case of letters.
    fileprivate func value(at path: [String]) -> JSONValue? {
        if path.starts(with: ["apns", "headers"]), let name = path.last {
            return self["apns"]?["headers"]?.members?.last { $0.name.lowercased() == name }?.value
        }
        return path.reduce(self) { $0?[$1] }
    }
}

// MARK: The rules, in the order in which they are checked

extension MessageRule {
    static let all: [MessageRule] = [
        [image("notification.image")], android, apnsHeaders, apsRules, apsTexts, webpush, ["", "android.", "apns.", "webpush."].map(label),
    ].flatMap { $0 }

    private static let android: [MessageRule] = [
        MessageRule("android.ttl", "TTL must be between 0 and 2419200 seconds.") { value, _ in
            value.string.flatMap(ProtobufDuration.seconds).map { (0...2_419_200).contains($0) } ?? true
        },
        image("android.notification.image"),
        MessageRule("android.notification.color", "Color must be in the form #RRGGBB.") { value, _ in
            value.string?.wholeMatch(of: /#[0-9A-Fa-f]{6}/) != nil
        },
        arguments("android.notification.title_loc_args", need: "title_loc_key", of: "title_loc_args"),
        arguments("android.notification.body_loc_args", need: "body_loc_key", of: "body_loc_args"),
    ]

    private static let apnsHeaders: [MessageRule] = [
        header("apns-priority", "must be 10, 5 or 1") { value, _ in ["10", "5", "1"].contains(value) },
        header("apns-push-type", "is unknown") { value, _ in pushTypes.contains(value.string ?? "") },
        header("apns-push-type", "must be 5 for a background push", about: "apns-priority") { value, message in
            value != "background" || message.value(at: ["apns", "headers", "apns-priority"]) == "5"
        },
        header("apns-push-type", "is background, but the push has an alert, a sound or a badge") { value, message in
            let aps = message["apns"]?["payload"]?["aps"]
            return value != "background" || ["alert", "sound", "badge"].allSatisfy { aps?[$0] == nil }
        },
        header("apns-collapse-id", "must have 1 to 64 bytes") { value, _ in (1...64).contains(value.string?.utf8.count ?? 0) },
        header("apns-expiration", "must be seconds since 1970") { value, _ in isCount(value.string) },
    ]

    private static let apsRules: [MessageRule] = [
        image("apns.fcm_options.image"),
        aps("", "must be a dictionary") { value, _ in value.members != nil },
        aps(".alert", "must be a string or a dictionary") { value, _ in value.string != nil || value.members != nil },
        arguments("apns.payload.aps.alert.title-loc-args", need: "title-loc-key", of: "aps.alert.title-loc-args"),
        arguments("apns.payload.aps.alert.loc-args", need: "loc-key", of: "aps.alert.loc-args"),
        aps(".sound", "must be a string or a dictionary with a name") { value, _ in
            value.string != nil || value["name"]?.string != nil
        },
        aps(".sound.volume", "must be between 0 and 1") { value, _ in
            guard case .number(let spelling) = value, let volume = Double(spelling) else { return true }
            return (0...1).contains(volume)
        },
        aps(".badge", "must be a non-negative integer") { value, _ in value.integer.map { $0 >= 0 } ?? false },
        aps(".content-available", "must be 0 or 1") { value, _ in [0, 1].contains(value.integer) },
        aps(".mutable-content", "must be 0 or 1") { value, _ in [0, 1].contains(value.integer) },
        aps(".interruption-level", "is unknown") { value, _ in ["passive", "active", "time-sensitive", "critical"].contains(value) },
        aps(".relevance-score", "must be a number") { value, _ in if case .number = value { true } else { false } },
    ]

    private static let apsTexts = [
        ".alert.title", ".alert.subtitle", ".alert.body", ".alert.launch-image", ".alert.title-loc-key", ".alert.loc-key", ".category",
        ".thread-id", ".target-content-id", ".filter-criteria",
    ].map { key in aps(key, "must be a string") { value, _ in value.string != nil } }

    private static let webpush: [MessageRule] = [
        MessageRule("webpush.headers.TTL", "TTL must be a non-negative integer.") { value, _ in isCount(value.string) },
        MessageRule("webpush.fcm_options.link", "The link must be an HTTPS URL.") { value, _ in
            value.string?.hasPrefix("https://") ?? true
        },
    ]

    private static let pushTypes: Set = [
        "alert", "background", "liveactivity", "location", "voip", "complication", "fileprovider", "mdm",
    ]

    private static func isCount(_ text: String?) -> Bool { text.flatMap { Int($0) }.map { $0 >= 0 } ?? false }

    private static func header(_ name: String, _ text: String, about field: String? = nil, isKept: @escaping Condition) -> MessageRule {
        let field = field ?? name
        return MessageRule("apns.headers.\(name)", "\(field) \(text).", field: "apns.headers.\(field)", isKept: isKept)
    }

    private static func aps(_ key: String, _ text: String, isKept: @escaping Condition) -> MessageRule {
        MessageRule("apns.payload.aps\(key)", "aps\(key) \(text).", isKept: isKept)
    }

    /// Arguments of a localised text need its key beside them.
    private static func arguments(_ path: String, need key: String, of name: String) -> MessageRule {
        let parent = path.split(separator: ".").dropLast().map(String.init)
        return MessageRule(path, "\(name) needs a \(key).") { _, message in message.value(at: parent + [key]) != nil }
    }

    private static func image(_ path: String) -> MessageRule {
        MessageRule(path, "Invalid image URL.") { value, _ in
            guard let url = value.string, !url.isEmpty else { return true }
            return url.wholeMatch(of: /https?:\/\/[^\/\s]\S*/) != nil
        }
    }

    private static func label(_ owner: String) -> MessageRule {
        MessageRule("\(owner)fcm_options.analytics_label", "Analytics label must match [a-zA-Z0-9-_.~%]{1,50}.") { value, _ in
            value.string.map { $0.utf8.count <= 50 && $0.utf8.allSatisfy(MessageTarget.isTopicByte) } ?? true
        }
    }
}
