public import Foundation

/// The content of a push as the phone got it, in types that may cross threads.
///
/// It is read from Apple's `userInfo`, from the JSON that FCM delivers, or from the data of an FCM message. The content is untrusted until
/// ``PushMessage`` has read it: this code does not trap, and depth, number and length of values are limited. Values over a limit are left
/// out.
public struct PushPayload: Sendable, Hashable {
    /// A value of a payload.
    public indirect enum Value: Sendable, Hashable {
        case null
        case bool(Bool)
        case number(Double)
        case string(String)
        case array([Value])
        case object([String: Value])
    }

    /// The most objects and arrays around a value.
    static let maxDepth = 8
    /// The most values of all objects and arrays together; a push has at most 4 KB.
    static let maxValues = 512
    /// The longest text, in bytes.
    static let maxTextBytes = 8_192

    /// The values by their names. The values of the data are beside `aps`, as in Apple's `userInfo`.
    public let values: [String: Value]
    /// The identifier of the notification: Apple's `request.identifier`, which is the collapse id, or Android's tag. Nil where it is
    /// unknown.
    public let identifier: String?
    /// When the phone got the push; nil where it is unknown.
    public let deliveredAt: Double?

    init(values: [String: Value], identifier: String? = nil, deliveredAt: Double? = nil) {
        self.values = values
        self.identifier = identifier.flatMap { $0.isEmpty || $0.utf8.count > 256 ? nil : $0 }
        self.deliveredAt = deliveredAt.flatMap { $0.isFinite ? $0 : nil }
    }

    /// Reads Apple's `userInfo`. Members whose names are not texts, and values that JSON does not have, are left out.
    ///
    /// - Parameters:
    ///   - userInfo: `userInfo` of the notification's content, or of `didReceiveRemoteNotification`.
    ///   - identifier: `request.identifier` of the notification; nil for a push without a visible notification.
    ///   - deliveredAt: Seconds since 1970 at which the phone got it (`notification.date`).
    public init(userInfo: [AnyHashable: Any], identifier: String? = nil, deliveredAt: Double? = nil) {
        var reader = PayloadReader()
        self.init(values: reader.members(of: userInfo, depth: 0), identifier: identifier, deliveredAt: deliveredAt)
    }

    /// Reads a notification that the system shows.
    ///
    /// The texts of a push are in its `userInfo`. A notification that the app shows by itself has them in its content alone, from where
    /// they are taken then.
    public init(
        userInfo: [AnyHashable: Any], identifier: String, deliveredAt: Double?, title: String, body: String, hasSound: Bool
    ) {
        var info = userInfo
        if info["aps"] == nil {
            var aps: [String: Any] = ["alert": ["title": title, "body": body]]
            if hasSound { aps["sound"] = "default" }
            info["aps"] = aps
        }
        self.init(userInfo: info, identifier: identifier, deliveredAt: deliveredAt)
    }

    /// Reads the data of an FCM message, whose values are all texts.
    public init(data: [String: String], identifier: String? = nil) {
        self.init(userInfo: data, identifier: identifier)
    }

    /// Reads JSON: Apple's payload, or a message in the form of FCM's API (`{"message": …}` or its content).
    ///
    /// Returns nil when it is not a JSON object.
    public init?(json: Data, identifier: String? = nil) {
        guard let object = try? JSONSerialization.jsonObject(with: json) as? [String: Any] else { return nil }
        var reader = PayloadReader()
        let values = reader.members(of: object, depth: 0)
        let message: [String: Value] = if case .object(let inner)? = values["message"] { inner } else { values }
        guard message["apns"]?.object != nil || message["data"]?.object != nil || message["notification"]?.object != nil else {
            self.init(values: values, identifier: identifier)
            return
        }
        self.init(values: Self.delivered(message), identifier: identifier ?? Self.identifier(of: message))
    }

    /// The payload on the phone for a message of FCM's API: the data beside `aps`, and the texts of the notification in its alert.
    private static func delivered(_ message: [String: Value]) -> [String: Value] {
        let apns = message["apns"]?.object ?? [:]
        var values = (apns["payload"]?.object ?? [:]).merging(message["data"]?.object ?? [:]) { $1 }
        var aps = apns["payload"]?["aps"]?.object ?? [:]
        let notification = message["notification"]?.object ?? [:]
        var alert = notification.filter { ["title", "body"].contains($0.key) }
        if let own = aps["alert"]?.object { alert.merge(own) { $1 } }
        if !alert.isEmpty, aps["alert"]?.string == nil { aps["alert"] = .object(alert) }
        values["aps"] = aps.isEmpty ? nil : .object(aps)
        if let image = apns["fcm_options"]?["image"] ?? notification["image"] { values["fcm_options"] = .object(["image": image]) }
        return values
    }

    private static func identifier(of message: [String: Value]) -> String? {
        message["apns"]?["headers"]?["apns-collapse-id"]?.string ?? message["android"]?["notification"]?["tag"]?.string
    }
}

extension PushPayload.Value {
    /// The text; nil for another value.
    public var string: String? { if case .string(let text) = self { text } else { nil } }

    /// The members of an object; nil for another value.
    public var object: [String: Self]? { if case .object(let members) = self { members } else { nil } }

    /// A whole number, even if it is written as a text; nil for another value, and for a number that `Int` cannot hold.
    public var integer: Int? {
        switch self {
        case .number(let number): Int(exactly: number)
        case .string(let text): Int(text)
        default: nil
        }
    }

    /// A truth value: `true`, 1, or the texts `true` and `1` in either case, and likewise for false. Nil for anything else.
    public var flag: Bool? {
        switch self {
        case .bool(let flag): flag
        case .number(let number): number == 1 ? true : number == 0 ? false : nil
        case .string(let text): ["true": true, "1": true, "false": false, "0": false][text.lowercased()]
        default: nil
        }
    }

    /// A member of an object; nil for another value.
    public subscript(name: String) -> Self? { object?[name] }
}
