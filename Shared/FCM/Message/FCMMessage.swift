internal import FoundationEssentials

/// A message of the FCM HTTP v1 API, in the spelling of its REST reference.
///
/// Only what our pushes use is modelled; the spelling of the keys is the only legal one, as phones drop what they do
/// not know without a word.
public struct FCMMessage: Sendable, Encodable {
    /// The text that is shown.
    public struct Notification: Sendable, Encodable, Equatable {
        /// The first line.
        public var title: String
        /// What follows.
        public var body: String
    }

    /// What only Android devices get.
    public struct Android: Sendable, Encodable, Equatable {
        /// How Android shows it.
        public struct Notification: Sendable, Encodable, Equatable {
            /// A later notification with the same tag takes this one's place.
            public var tag: String
            /// The picture below the text: https, at most 1 MB.
            public var image: String?
        }

        /// `HIGH` wakes a sleeping device.
        public var priority = "HIGH"
        /// How long the message may wait for the device, such as `3600s`.
        public var ttl: String?
        /// How Android shows it.
        public var notification: Notification
    }

    /// What only Apple devices get.
    public struct APNS: Sendable, Encodable, Equatable {
        /// The JSON that reaches the app.
        public struct Payload: Sendable, Encodable, Equatable {
            /// What the system reads of it.
            public var aps: APS
        }

        /// What FCM adds for Apple devices.
        public struct Options: Sendable, Encodable, Equatable {
            /// The picture that FirebaseMessaging's service extension fetches.
            public var image: String
        }

        /// The headers of the request to Apple, such as `apns-collapse-id`.
        public var headers: [String: String]
        /// The JSON that reaches the app.
        public var payload: Payload
        /// What FCM adds.
        public var options: Options?

        enum CodingKeys: String, CodingKey {
            case headers, payload
            case options = "fcm_options"
        }
    }

    /// Where it goes.
    public var target: FCMTarget
    /// The text that is shown.
    public var notification: Notification
    /// What the app reads; values are always strings.
    public var data: [String: String]
    /// What only Android devices get.
    public var android: Android
    /// What only Apple devices get.
    public var apns: APNS

    enum CodingKeys: String, CodingKey {
        case token, fid, notification, data, android, apns
    }

    /// Writes the members of the message, with the target under the name of its kind.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch target {
        case .token(let token): try container.encode(token, forKey: .token)
        case .fid(let fid): try container.encode(fid, forKey: .fid)
        }
        try container.encode(notification, forKey: .notification)
        try container.encode(data, forKey: .data)
        try container.encode(android, forKey: .android)
        try container.encode(apns, forKey: .apns)
    }

    /// Returns the body of a send request.
    public func requestBody(validateOnly: Bool = false) throws(FCMError) -> [UInt8] {
        struct Request: Encodable {
            let message: FCMMessage
            let validate_only: Bool?
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return [UInt8](try encoder.encode(Request(message: self, validate_only: validateOnly ? true : nil)))
        } catch {
            throw FCMError(.invalidMessage, "the message cannot be written as JSON", underlying: error)
        }
    }
}

/// The dictionary Apple's system reads.
public struct APS: Sendable, Encodable, Equatable {
    /// The text that is shown, where it stands in aps itself.
    public struct Alert: Sendable, Encodable, Equatable {
        /// The first line.
        public var title: String
        /// What follows.
        public var body: String
    }

    /// The text that is shown; FCM puts the notification's here when it is missing.
    public var alert: Alert?
    /// The number on the app's icon: absolute, as a phone does not count by itself.
    public var badge: Int?
    /// The sound that is played.
    public var sound: String?
    /// The set of actions the app has registered.
    public var category: String?
    /// What belongs to the same group.
    public var threadID: String?
    /// 1 wakes the app in the background, when the system finds it worth while.
    public var contentAvailable: Int?
    /// 1 runs the app's service extension, which may add a picture.
    public var mutableContent: Int?

    enum CodingKeys: String, CodingKey {
        case alert, badge, sound, category
        case threadID = "thread-id"
        case contentAvailable = "content-available"
        case mutableContent = "mutable-content"
    }

    /// Makes a dictionary without entries.
    public init() {}
}
