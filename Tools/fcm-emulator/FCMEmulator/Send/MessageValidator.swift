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
        try Self.checkData(message["android"]?["data"], field: "message.android.data")
        for rule in MessageRule.all { try rule.check(message) }
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
}

extension JSONLimits {
    /// The nesting that Google's parser of protocol buffers accepts.
    static let request = JSONLimits(maxDepth: 100)
}
