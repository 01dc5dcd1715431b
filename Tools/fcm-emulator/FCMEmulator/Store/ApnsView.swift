import FoundationEssentials
import JSON

/// The headers and the payload that FCM sends to Apple for a message to an iPhone.
///
/// FCM adds keys of its own, merges `data` into the top level and fills in what the message leaves out; `apns.payload`
/// overrides the common notification.
struct ApnsView: Sendable {
    /// The headers, by their names in lower case.
    let headers: [(name: String, value: String)]
    /// The payload.
    let payload: JSONValue

    /// Time Apple keeps a push for a phone that is off, in seconds, unless the message sets it: 30 days.
    private static let defaultLifetimeSeconds = 2_592_000.0

    init(_ received: ReceivedMessage, senderID: String) {
        let message = received.message
        let apns = message["apns"]
        var payload: JSONValue = [:]
        payload["aps"] = Self.aps(apns?["payload"]?["aps"], common: message["notification"])
        for member in apns?["payload"]?.members ?? [] where member.name != "aps" { payload[member.name] = member.value }
        for member in message["data"]?.members ?? [] { payload[member.name] = member.value }
        let image = apns?["fcm_options"]?["image"] ?? message["notification"]?["image"]
        if let image { payload["fcm_options"] = ["image": image] }
        payload["gcm.message_id"] = .string(received.name.split(separator: "/").last.map(String.init) ?? "")
        payload["google.c.sender.id"] = .string(senderID)
        payload["google.c.fid"] = .string(received.registration?.split(separator: ":").first.map(String.init) ?? "")
        payload["google.c.a.e"] = "1"
        if let label = apns?["fcm_options"]?["analytics_label"] ?? message["fcm_options"]?["analytics_label"] {
            payload["google.c.a.m_l"] = label
        }
        self.payload = payload
        headers = Self.headers(apns?["headers"]?.strings ?? [:], payload["aps"], at: received.receivedAt)
    }

    private static func aps(_ own: JSONValue?, common: JSONValue?) -> JSONValue {
        var aps: JSONValue = [:]
        let texts = ["title", "body"].compactMap { name in common?[name].map { (name, $0) } }
        if own?["alert"] == nil, !texts.isEmpty {
            var alert: JSONValue = [:]
            for (name, text) in texts { alert[name] = text }
            aps["alert"] = alert
        }
        for member in own?.members ?? [] { aps[member.name] = member.value }
        // The common notification supplies the texts that an alert dictionary leaves out.
        for (name, text) in texts where aps["alert"]?[name] == nil { aps["alert"]?[name] = text }
        return aps
    }

    private static func headers(_ own: [String: String], _ aps: JSONValue?, at time: Date) -> [(name: String, value: String)] {
        let isAlert = aps?["alert"] != nil || aps?["sound"] != nil || aps?["badge"] != nil
        var headers = Dictionary(own.map { ($0.key.lowercased(), $0.value) }, uniquingKeysWith: { $1 })
        headers["apns-push-type"] = headers["apns-push-type"] ?? (isAlert ? "alert" : "background")
        headers["apns-priority"] = headers["apns-priority"] ?? (isAlert ? "10" : "5")
        let expiration = Int(time.timeIntervalSince1970 + defaultLifetimeSeconds)
        headers["apns-expiration"] = headers["apns-expiration"] ?? String(expiration)
        return headers.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
    }

    /// The JSON that the control API shows.
    var json: JSONValue {
        var fields: JSONValue = [:]
        for header in headers { fields[header.name] = .string(header.value) }
        return ["headers": fields, "payload": payload]
    }
}
