public import FoundationEssentials
internal import JSON
public import Push

/// A push in the format of FCM's HTTP v1 API, as its REST reference spells it, for any number of devices.
///
/// It is rendered once. The parts that differ between devices (target, badge and time to live) are inserted between the
/// rendered bytes. Only the fields that these pushes use are modelled. Keys must be spelt exactly, because phones silently drop
/// unknown ones.
public final class FCMMessage: Sendable {
    /// The title that is shown.
    public let title: String
    /// The text that is shown below the title.
    public let body: String
    /// The data for the app; values are always strings.
    public let data: [String: String]
    /// The id by which a later push about the same subject replaces this one on the device: `apns-collapse-id`, and Android's `tag`.
    public let collapseID: String
    /// The URL of the picture that is shown; https, or http on this machine.
    public let image: String?
    /// The time after which the push is not worth showing, in seconds since 1970.
    let expiresAtSeconds: Int

    private let first: SoundVariant
    private let resend: SoundVariant
    private let upToBadge: [UInt8]
    private let hasAlert: Bool
    private let hasBadge: Bool
    private let upToTarget: [UInt8]
    private let upToEnd: [UInt8]

    /// The rendered parts that differ between a first send, with sound, and a resend without.
    private struct SoundVariant {
        let upToTimeToLive: [UInt8]
        let apsRest: [UInt8]
    }

    /// Renders a push, with its texts cut so that it fits FCM's limits.
    ///
    /// A push replaces an earlier one about the same subject on the device, also when it is sent again because a response was lost.
    ///
    /// - Parameters:
    ///   - sources: The sources of the values that the content does not have.
    ///   - expiresAt: The time after which the push is not worth showing.
    /// - Throws: `invalidMessage` when it does not fit even with its texts cut; the errors of the sources.
    public init(_ content: PushContent, _ sources: PushSources, expiresAt: Date) throws {
        let parts = try PushParts.fitting(content, sources)
        (title, body, data, image) = (parts.title, parts.body, parts.data, parts.image)
        collapseID = Self.collapseID(parts.subject)
        expiresAtSeconds = Int(expiresAt.timeIntervalSince1970.rounded(.down))
        let (alert, collapseID) = (parts.alert, collapseID)
        hasAlert = !alert.isEmpty
        hasBadge = !parts.isDataOnly
        (first, resend) = (
            Self.sound(parts, channel: parts.channelID, tag: collapseID, isResend: false),
            Self.sound(parts, channel: parts.channelID, tag: collapseID, isResend: true)
        )
        let expiration = String(expiresAtSeconds)
        let apns = JSONWriter.bytes { writer in
            parts.writeOptions(to: &writer)
            writer.object("headers") { writer in
                writer.member("apns-collapse-id", collapseID)
                writer.member("apns-expiration", expiration)
                // Apple refuses a background push of another priority than 5.
                writer.member("apns-priority", parts.isQuiet || parts.isDataOnly ? "5" : "10")
                writer.member("apns-push-type", parts.isDataOnly ? "background" : "alert")
            }
        }
        upToBadge = Array(#"s"},"apns":{"#.utf8) + apns + Array(#","payload":{"aps":{"#.utf8) + alert
        upToTarget = Array("}}},".utf8) + JSONWriter.bytes { $0.object("data", parts.writeData) }
        upToEnd = parts.isDataOnly ? [] : Array(",".utf8) + JSONWriter.bytes { $0.object("notification", parts.writeTexts) }
    }

    /// Renders the parts in which a resend differs from a first send.
    ///
    /// An iPhone replaces a notification of the same collapse id and is silent without `aps.sound`. FCM has no field that silences a
    /// replacement on Android: from version 8 on the app's channel decides about sounds, and FCM cannot ask for "alert only once".
    /// A low priority keeps phones with earlier versions quiet; for the others the app has to choose a quiet channel.
    private static func sound(_ parts: PushParts, channel: String?, tag: String, isResend: Bool) -> SoundVariant {
        let android = JSONWriter.bytes { writer in
            if !parts.isDataOnly {
                writer.object("notification") { writer in
                    writer.member("channel_id", channel)
                    writer.member("image", parts.image)
                    if isResend { writer.member("notification_priority", "PRIORITY_LOW") }
                    writer.member("tag", tag)
                }
            }
            // A high priority is for pushes that are shown or awaited: Google lowers the priority of apps that use it for other pushes.
            let isLow = parts.isQuiet || parts.isDataOnly && !parts.isAwaited
            writer.member("priority", isLow ? "NORMAL" : "HIGH")
        }
        return SoundVariant(
            upToTimeToLive: Array(#"{"message":{"android":{"#.utf8) + android + Array(#","ttl":""#.utf8),
            apsRest: parts.apsRest(isSilent: isResend))
    }

    /// Returns the body of the request that sends the push to one device.
    ///
    /// - Parameters:
    ///   - badge: The number on the app's icon, absolute; nil leaves it unchanged.
    ///   - isResend: Whether the device may have the push already; a resend replaces the first push, without sound where phones allow.
    ///   - now: The time of sending.
    ///   - validateOnly: Whether FCM checks the message without delivering it.
    public func request(
        to target: PushTarget, badge: Int? = nil, isResend: Bool = false, at now: Date, validateOnly: Bool = false
    ) -> [UInt8] {
        let sound = isResend ? resend : first
        var json: [UInt8] = []
        json.reserveCapacity(
            sound.upToTimeToLive.count + upToBadge.count + sound.apsRest.count + upToTarget.count + upToEnd.count + 320)
        json += sound.upToTimeToLive
        json += String(timeToLive(at: now)).utf8
        json += upToBadge
        let badge = hasBadge ? badge : nil
        if let badge {
            if hasAlert { json.append(UInt8(ascii: ",")) }
            json += #""badge":"#.utf8
            json += String(badge).utf8
        }
        if !sound.apsRest.isEmpty, hasAlert || badge != nil { json.append(UInt8(ascii: ",")) }
        json += sound.apsRest
        json += upToTarget
        if case .fid(let fid) = target {
            json += #","fid":"#.utf8
            JSONWriter.append(fid, to: &json)
        }
        json += upToEnd
        if case .token(let token) = target {
            json += #","token":"#.utf8
            JSONWriter.append(token, to: &json)
        }
        json += validateOnly ? #"},"validate_only":true}"#.utf8 : "}}".utf8
        return json
    }

    /// FCM's longest time to live of a message: four weeks.
    static let maxTimeToLiveSeconds = 2_419_200

    /// Returns the time the message may wait for the device, in seconds.
    func timeToLive(at now: Date) -> Int {
        let left = Double(expiresAtSeconds) - now.timeIntervalSince1970
        return Int(max(0, min(Double(Self.maxTimeToLiveSeconds), left.rounded(.up))))
    }
}
