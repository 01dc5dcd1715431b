import JSON

/// Measures messages.
enum MessageSize {
    /// Maximum size of a message to one device, in bytes.
    static let deviceBytes = 4096
    /// Maximum size of a message to a topic or condition, in bytes.
    static let topicBytes = 2048
    /// The longest single value observed to be accepted in production, in bytes, for any target.
    static let observedBytes = 4505

    static func check(_ message: JSONValue, target: MessageTarget, limit: MessageSizeLimit) throws(FCMRefusal) {
        let maximum =
            switch limit {
            case .observed: observedBytes
            case .documented: target.registration == nil ? topicBytes : deviceBytes
            }
        let size = payloadBytes(message)
        // Apple accepts 4096 bytes of final JSON for any target; `observed` applies its larger limit here too.
        guard size <= maximum, apnsBytes(message) <= max(maximum, deviceBytes) else { throw .tooBig }
    }

    /// Size of the data's names and values and of the notification's texts, in bytes of UTF-8.
    static func payloadBytes(_ message: JSONValue) -> Int {
        let data = (message["data"]?.members ?? []).reduce(0) {
            $0 + $1.name.utf8.count + ($1.value.string?.utf8.count ?? 0)
        }
        return (message["notification"]?.members ?? []).reduce(data) { $0 + ($1.value.string?.utf8.count ?? 0) }
    }

    /// Size of the JSON that FCM would send to Apple, in bytes; 0 without an `apns` payload.
    static func apnsBytes(_ message: JSONValue) -> Int {
        guard let payload = message["apns"]?["payload"] else { return 0 }
        return payload.bytes.count + (message["data"]?.bytes.count ?? 0)
    }
}
