public import FoundationEssentials

/// A push as FCM's HTTP v1 API takes it, in the spelling of its REST reference, for any number of devices.
///
/// It is rendered once. What differs from device to device, the target, the number on the icon and the seconds left, is
/// put into gaps between bytes that are ready. Only what our pushes use is modelled; the spelling of the keys is the
/// only legal one, as phones drop what they do not know without a word.
public final class FCMMessage: Sendable {
    /// The first line of the text that is shown.
    public let title: String
    /// What follows it.
    public let body: String
    /// What the app reads; values are always strings.
    public let data: [String: String]
    /// What a later push about the same thing replaces on the device: `apns-collapse-id`, and Android's `tag`.
    public let collapseID: String
    /// The https URL of the picture that is shown.
    public let image: String?
    /// After this time the push is not worth showing; in seconds since 1970.
    let expiresAtSeconds: Int

    private let first: Tones
    private let resend: Tones
    private let upToBadge: [UInt8]
    private let hasAlert: Bool
    private let upToTarget: [UInt8]
    private let upToEnd: [UInt8]

    /// The parts that decide whether a phone makes a sound.
    private struct Tones {
        let upToTimeToLive: [UInt8]
        let apsRest: [UInt8]
    }

    /// Renders what a push says, its texts cut so that it fits FCM's limits.
    ///
    /// A push replaces an earlier one about the same subject on the device, also when it is sent again because an answer was lost.
    ///
    /// - Parameter expiresAt: After this time the push is not worth showing.
    /// - Throws: `invalidMessage` when not even its ids fit.
    public init(_ content: PushContent, expiresAt: Date) throws(FCMError) {
        let parts = try PushParts.fitting(content)
        (title, body, data, image) = (parts.title, parts.body, parts.data, parts.image)
        collapseID = Self.collapseID(content.subject)
        expiresAtSeconds = Int(expiresAt.timeIntervalSince1970.rounded(.down))
        hasAlert = parts.alert != nil

        let collapse = JSONText.string(collapseID)
        (first, resend) = (
            Self.tones(parts, channel: content.channelID, tag: collapse, isResend: false),
            Self.tones(parts, channel: content.channelID, tag: collapse, isResend: true)
        )
        let headers = JSONText.object([
            ("apns-collapse-id", collapse), ("apns-expiration", JSONText.string("\(expiresAtSeconds)")),
            ("apns-priority", JSONText.string(parts.isQuiet ? "5" : "10")), ("apns-push-type", JSONText.string("alert")),
        ])
        let apns = JSONText.members([
            ("fcm_options", image.map { JSONText.object([("image", JSONText.string($0))]) }), ("headers", headers),
        ])
        upToBadge = Array(#"s"},"apns":{"#.utf8) + apns + Array(#","payload":{"aps":{"#.utf8)
            + JSONText.members([("alert", parts.alert)])
        upToTarget = Array(#"}}},"data":"#.utf8) + JSONText.object(data) + Array(",".utf8)
        upToEnd = Array(#""notification":"#.utf8)
            + JSONText.object([("body", JSONText.string(body)), ("title", JSONText.string(title))])
    }

    /// Renders what a resend says otherwise than a first send.
    ///
    /// An iPhone replaces a notification of the same collapse id and is silent without `aps.sound`. FCM has no field that silences a
    /// replacement on Android: from version 8 on the app's channel decides about sounds, and FCM cannot ask for "alert only once".
    /// A low priority keeps phones with earlier versions quiet; for the others the app has to choose a quiet channel.
    private static func tones(_ parts: PushParts, channel: String, tag: [UInt8], isResend: Bool) -> Tones {
        let android = JSONText.members([
            (
                "notification",
                JSONText.object([
                    ("channel_id", JSONText.string(channel)), ("image", parts.image.map(JSONText.string)),
                    ("notification_priority", isResend ? JSONText.string("PRIORITY_LOW") : nil), ("tag", tag),
                ])
            ),
            ("priority", JSONText.string(parts.isQuiet ? "NORMAL" : "HIGH")),
        ])
        return Tones(
            upToTimeToLive: Array(#"{"message":{"android":{"#.utf8) + android + Array(#","ttl":""#.utf8),
            apsRest: JSONText.members(isResend ? parts.apsRest.filter { $0.name != "sound" } : parts.apsRest))
    }

    /// Returns the body of the request that sends the push to one device.
    ///
    /// - Parameters:
    ///   - badge: The number on the app's icon, absolute; nil leaves it as it is.
    ///   - isResend: Whether the device may have the push already: it replaces the first one and makes no sound, where phones allow.
    ///   - now: The time at which it is sent.
    ///   - validateOnly: Has FCM check the message and not deliver it.
    public func request(
        to target: FCMTarget, badge: Int? = nil, isResend: Bool = false, at now: Date, validateOnly: Bool = false
    ) -> [UInt8] {
        let tones = isResend ? resend : first
        var json: [UInt8] = []
        json.reserveCapacity(
            tones.upToTimeToLive.count + upToBadge.count + tones.apsRest.count + upToTarget.count + upToEnd.count + 320)
        json += tones.upToTimeToLive
        json += String(timeToLive(at: now)).utf8
        json += upToBadge
        if let badge {
            if hasAlert { json.append(UInt8(ascii: ",")) }
            json += #""badge":"#.utf8
            json += String(badge).utf8
        }
        if !tones.apsRest.isEmpty, hasAlert || badge != nil { json.append(UInt8(ascii: ",")) }
        json += tones.apsRest
        json += upToTarget
        if case .fid(let fid) = target {
            json += #""fid":"#.utf8
            JSONText.append(fid, to: &json)
            json.append(UInt8(ascii: ","))
        }
        json += upToEnd
        if case .token(let token) = target {
            json += #","token":"#.utf8
            JSONText.append(token, to: &json)
        }
        json += validateOnly ? #"},"validate_only":true}"#.utf8 : "}}".utf8
        return json
    }

    /// The longest a message may wait for a device, in seconds: four weeks.
    static let timeToLiveSecondsMax = 2_419_200

    /// How long the message may wait for the device, in seconds.
    func timeToLive(at now: Date) -> Int {
        let left = Double(expiresAtSeconds) - now.timeIntervalSince1970
        return Int(max(0, min(Double(Self.timeToLiveSecondsMax), left.rounded(.up))))
    }
}
