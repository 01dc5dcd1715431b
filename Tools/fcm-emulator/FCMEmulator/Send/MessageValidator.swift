import JSON

/// A request of `messages:send` that fits the schema, with all names in snake_case.
struct SendRequest: Sendable {
    let message: JSONValue
    let target: MessageTarget
    let validateOnly: Bool
}

/// Checks a body in FCM's order: JSON, fields, target, options, size. The registration's state comes after.
///
/// Where no refusal was observed in production (more than one fault at a time, most options), the documented rule decides whether
/// to refuse, and the message text is the emulator's own.
struct MessageValidator: Sendable {
    let sizeLimit: MessageSizeLimit

    func validate(_ bytes: [UInt8]) throws(FCMRefusal) -> SendRequest {
        let body: JSONValue
        do throws(JSONError) {
            body = try JSONValue(parsing: bytes, limits: .request)
        } catch {
            throw .notJSON(error.message)
        }
        let request = try SchemaReader.read(body, as: .request)
        guard let message = request["message"], let target = MessageTarget(message: message) else { throw .noRecipient }
        try target.check()
        try Self.checkData(message["data"], field: "message.data")
        try Self.checkNotification(message["notification"], field: "message.notification")
        try Self.checkAndroid(message["android"])
        try ApnsValidator.check(message["apns"])
        try Self.checkWebpush(message["webpush"])
        for owner in ["", "android.", "apns.", "webpush."] {
            let options = owner.isEmpty ? message["fcm_options"] : message[String(owner.dropLast())]?["fcm_options"]
            try Self.checkLabel(options?["analytics_label"], field: "message.\(owner)fcm_options.analytics_label")
        }
        try MessageSize.check(message, target: target, limit: sizeLimit)
        let isValidateOnly = request["validate_only"]?.boolean ?? false
        return SendRequest(message: message, target: target, validateOnly: isValidateOnly)
    }

    private static func checkData(_ data: JSONValue?, field: String) throws(FCMRefusal) {
        for member in data?.members ?? [] where isReserved(member.name) {
            throw .invalidField(field, "Invalid data payload key: \(member.name)")
        }
    }

    /// Whether FCM reserves the key, by the widest of the rules it has published.
    static func isReserved(_ key: String) -> Bool {
        key.isEmpty || ["from", "message_type", "notification"].contains(key) || key.hasPrefix("google")
            || key.hasPrefix("gcm")
    }

    private static func checkNotification(_ notification: JSONValue?, field: String) throws(FCMRefusal) {
        try checkImage(notification?["image"], field: field + ".image")
    }

    static func checkImage(_ image: JSONValue?, field: String) throws(FCMRefusal) {
        guard let url = image?.string, !url.isEmpty else { return }
        let rest = url.hasPrefix("https://") ? url.dropFirst(8) : url.hasPrefix("http://") ? url.dropFirst(7) : ""
        if rest.isEmpty || rest.hasPrefix("/") || url.contains(where: \.isWhitespace) {
            throw .invalidField(field, "Invalid image URL.")
        }
    }

    private static func checkLabel(_ label: JSONValue?, field: String) throws(FCMRefusal) {
        guard let label = label?.string, !label.isEmpty else { return }
        if label.utf8.count > 50 || !label.utf8.allSatisfy(MessageTarget.isTopicByte) {
            throw .invalidField(field, "Analytics label must match [a-zA-Z0-9-_.~%]{1,50}.")
        }
    }

    private static func checkAndroid(_ android: JSONValue?) throws(FCMRefusal) {
        try checkData(android?["data"], field: "message.android.data")
        if let ttl = android?["ttl"]?.string.flatMap(ProtobufDuration.seconds), !(0...2_419_200).contains(ttl) {
            throw .invalidField("message.android.ttl", "TTL must be between 0 and 2419200 seconds.")
        }
        guard let notification = android?["notification"] else { return }
        let field = "message.android.notification"
        try checkNotification(notification, field: field)
        if let color = notification["color"]?.string {
            let digits = color.dropFirst()
            if color.first != "#" || digits.count != 6 || !digits.allSatisfy(\.isHexDigit) {
                throw .invalidField(field + ".color", "Color must be in the form #RRGGBB.")
            }
        }
        for part in ["title", "body"]
        where notification[part + "_loc_args"] != nil && notification[part + "_loc_key"]?.string == nil {
            throw .invalidField("\(field).\(part)_loc_args", "\(part)_loc_args needs a \(part)_loc_key.")
        }
    }

    private static func checkWebpush(_ webpush: JSONValue?) throws(FCMRefusal) {
        if let ttl = webpush?["headers"]?["TTL"]?.string, Int(ttl).map({ $0 >= 0 }) != true { throw .badTTLHeader }
        if let link = webpush?["fcm_options"]?["link"]?.string, !link.hasPrefix("https://") {
            throw .invalidField("message.webpush.fcm_options.link", "The link must be an HTTPS URL.")
        }
    }
}

extension JSONLimits {
    /// The nesting that Google's parser of protocol buffers accepts.
    static let request = JSONLimits(maxDepth: 100)
}
