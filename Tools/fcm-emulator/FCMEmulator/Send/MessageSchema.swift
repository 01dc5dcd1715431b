/// The type of a field of a message, as in the JSON mapping of protocol buffers.
indirect enum FieldType: Sendable {
    case string
    case bool
    case int32
    case number
    /// `"3.5s"`.
    case duration
    /// RFC 3339.
    case timestamp
    /// One of these names; the name of the type appears in the error.
    case enumeration(String, [String])
    case stringMap
    case list(FieldType)
    /// Any JSON object.
    case object
    case message(MessageSchema)
}

/// The fields of one message type.
struct MessageSchema: Sendable {
    /// The name in errors, without `type.googleapis.com/`.
    let name: String
    /// The fields by both their spellings, snake_case and lowerCamelCase.
    let fields: [String: (name: String, type: FieldType)]
    /// Fields of which at most one may be set, and the name of that choice.
    var oneOf: (name: String, fields: Set<String>)?

    init(_ name: String, oneOf: (name: String, fields: Set<String>)? = nil, _ fields: KeyValuePairs<String, FieldType>) {
        self.name = name
        self.oneOf = oneOf
        var table: [String: (name: String, type: FieldType)] = [:]
        for (name, type) in fields {
            table[name] = (name, type)
            table[Self.camelCase(name)] = (name, type)
        }
        self.fields = table
    }

    /// `android_config` → `androidConfig`.
    static func camelCase(_ name: String) -> String {
        let words = name.split(separator: "_")
        return words.dropFirst().reduce(String(words[0])) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
    }
}

// MARK: The request of messages:send (discovery document 20250228, and `fid`)

extension MessageSchema {
    private static let fcm = "google.firebase.fcm.v1."

    static let request = MessageSchema(
        fcm + "SendMessageRequest", ["message": .message(message), "validate_only": .bool])

    static let message = MessageSchema(
        fcm + "Message", oneOf: ("target", ["token", "fid", "topic", "condition"]),
        [
            "name": .string, "data": .stringMap, "notification": .message(notification),
            "android": .message(android), "webpush": .message(webpush), "apns": .message(apns),
            "fcm_options": .message(options("FcmOptions", ["analytics_label": .string])),
            "token": .string, "fid": .string, "topic": .string, "condition": .string,
        ])

    static let notification = MessageSchema(
        fcm + "Notification", ["title": .string, "body": .string, "image": .string])

    static let android = MessageSchema(
        fcm + "AndroidConfig",
        [
            "collapse_key": .string,
            "priority": .enumeration(fcm + "AndroidConfig.AndroidMessagePriority", ["NORMAL", "HIGH"]),
            "ttl": .duration, "restricted_package_name": .string, "data": .stringMap,
            "notification": .message(androidNotification),
            "fcm_options": .message(options("AndroidFcmOptions", ["analytics_label": .string])),
            "direct_boot_ok": .bool, "bandwidth_constrained_ok": .bool, "restricted_satellite_ok": .bool,
        ])

    static let androidNotification = MessageSchema(
        fcm + "AndroidNotification",
        [
            "title": .string, "body": .string, "icon": .string, "color": .string, "sound": .string, "tag": .string,
            "click_action": .string, "body_loc_key": .string, "body_loc_args": .list(.string),
            "title_loc_key": .string, "title_loc_args": .list(.string), "channel_id": .string, "ticker": .string,
            "sticky": .bool, "event_time": .timestamp, "local_only": .bool,
            "notification_priority": .enumeration(
                fcm + "AndroidNotification.NotificationPriority",
                [
                    "PRIORITY_UNSPECIFIED", "PRIORITY_MIN", "PRIORITY_LOW", "PRIORITY_DEFAULT", "PRIORITY_HIGH",
                    "PRIORITY_MAX",
                ]),
            "default_sound": .bool, "default_vibrate_timings": .bool, "default_light_settings": .bool,
            "vibrate_timings": .list(.duration),
            "visibility": .enumeration(
                fcm + "AndroidNotification.Visibility",
                ["VISIBILITY_UNSPECIFIED", "PRIVATE", "PUBLIC", "SECRET"]),
            "notification_count": .int32, "light_settings": .message(lightSettings), "image": .string,
            "proxy": .enumeration(
                fcm + "AndroidNotification.Proxy",
                ["PROXY_UNSPECIFIED", "ALLOW", "DENY", "IF_PRIORITY_LOWERED"]),
            "bypass_proxy_notification": .bool,
        ])

    private static let lightSettings = MessageSchema(
        fcm + "LightSettings",
        [
            "color": .message(
                MessageSchema(
                    "google.type.Color", ["red": .number, "green": .number, "blue": .number, "alpha": .number])),
            "light_on_duration": .duration, "light_off_duration": .duration,
        ])

    static let webpush = MessageSchema(
        fcm + "WebpushConfig",
        [
            "headers": .stringMap, "data": .stringMap, "notification": .object,
            "fcm_options": .message(options("WebpushFcmOptions", ["link": .string, "analytics_label": .string])),
        ])

    static let apns = MessageSchema(
        fcm + "ApnsConfig",
        [
            "headers": .stringMap, "payload": .object, "live_activity_token": .string,
            "fcm_options": .message(options("ApnsFcmOptions", ["analytics_label": .string, "image": .string])),
        ])

    private static func options(_ name: String, _ fields: KeyValuePairs<String, FieldType>) -> MessageSchema {
        MessageSchema(fcm + name, fields)
    }
}
