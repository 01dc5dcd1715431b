/// Measures messages.
enum MessageSize {
    /// The most a message to one device may weigh, in bytes.
    static let deviceBytes = 4096
    /// The most a message to a topic or condition may weigh, in bytes.
    static let topicBytes = 2048
    /// The longest single value that production was seen to accept, in bytes, whatever the target.
    static let observedBytes = 4505

    static func check(_ message: JSONValue, target: MessageTarget, limit: MessageSizeLimit) throws(FCMRefusal) {
        let maximum =
            switch limit {
            case .observed: observedBytes
            case .documented: target.registration == nil ? topicBytes : deviceBytes
            }
        let size = payloadBytes(message)
        // Apple takes 4096 bytes of final JSON, whoever sends it.
        guard size <= maximum, apnsBytes(message) <= max(maximum, deviceBytes) else { throw .tooBig }
    }

    /// The data's names and values and the notification's texts, in bytes of UTF-8.
    static func payloadBytes(_ message: JSONValue) -> Int {
        let data = (message["data"]?.members ?? []).reduce(0) {
            $0 + $1.name.utf8.count + ($1.value.string?.utf8.count ?? 0)
        }
        return (message["notification"]?.members ?? []).reduce(data) { $0 + ($1.value.string?.utf8.count ?? 0) }
    }

    /// The JSON that FCM would hand to Apple, in bytes; 0 without an `apns` part.
    static func apnsBytes(_ message: JSONValue) -> Int {
        guard let payload = message["apns"]?["payload"] else { return 0 }
        return payload.serialized().utf8.count + (message["data"]?.serialized().utf8.count ?? 0)
    }
}
