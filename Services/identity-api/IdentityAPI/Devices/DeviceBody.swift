internal import FoundationEssentials
internal import JSON
internal import Push

/// The validated registration of an app's installation.
struct DeviceBody: JSONObjectBody {
    /// The platforms that can receive pushes.
    static let platforms: Set<String> = ["ios", "android", "web"]
    /// The maximum length of a version, and of a BCP 47 tag (RFC 5646 §4.4.1). A longer text is cut: it is no reason to refuse a
    /// registration.
    static let maxVersionLength = 64
    static let maxLocaleLength = 35

    static let fields = BodyFields<DeviceBody>(
        .pushTarget, .platform, .visible("app_version", upTo: maxVersionLength), .visible("locale", upTo: maxLocaleLength)
    ) { target, platform, version, locale in
        DeviceBody(
            target: target, platform: platform, appVersion: version.map { String($0.prefix(maxVersionLength)) },
            locale: locale.map(tag).flatMap { $0.isEmpty ? nil : $0 })
    }
    /// A token has up to 4 KB.
    static let maxBytes = 16 * 1_024
    static let example: JSONValue? = [
        "platform": "ios", "device_token": APIProperty.pushToken, "app_version": "1.2 (3)", "locale": "de-CH",
    ]

    let target: PushTarget
    let platform: String
    let appVersion: String?
    let locale: String?

    /// Returns the language tag of a locale. Some systems write it with underscores, or with a character set behind it; in a long one the
    /// extensions of Unicode (`-u-ca-buddhist-…`) are left out, which say nothing of the language.
    private static func tag(_ locale: String) -> String {
        let whole = String(locale.prefix { $0 != "." && $0 != "@" }).replacing("_", with: "-")
        guard whole.utf8.count > maxLocaleLength else { return whole }
        var tag = ""
        for part in whole.split(separator: "-") {
            guard part.count > 1, tag.utf8.count + 1 + part.utf8.count <= maxLocaleLength else { break }
            tag += (tag.isEmpty ? "" : "-") + part
        }
        return tag
    }
}

/// The body that returns the nonce of a hand-over.
struct ConfirmedDeviceBody: JSONObjectBody {
    static let fields = BodyFields<ConfirmedDeviceBody>(
        .id("handover_id", or: "The hand-over's id is not one"), .word("nonce")
    ) { ConfirmedDeviceBody(handOverID: $0, nonce: $1) }
    static let maxBytes = DeviceBody.maxBytes

    let handOverID: UUID
    let nonce: String
}

extension BodyFields<PushTarget> {
    /// A token or a Firebase installation id.
    fileprivate static let pushTarget = BodyFields(.optionalWord(PushTarget.tokenField), .optionalWord(PushTarget.fidField)) {
        token, fid throws(APIError) in
        guard let target = try PushTarget(ofClientToken: token, fid: fid) else {
            throw APIError(.missingField, "The device's push token is missing", field: PushTarget.tokenField)
        }
        return target
    }
}

extension BodyFields<String> {
    fileprivate static let platform = BodyFields("platform", .text) { body, name throws(APIError) in
        let platform = try body.requiredWord(name).lowercased()
        guard DeviceBody.platforms.contains(platform) else {
            throw APIError(.invalidRequest, "The platform is one of ios, android and web", field: name)
        }
        return platform
    }
}

extension BodyFields<String?> {
    /// A text of visible characters of ASCII that may be missing; in the description it has up to so many.
    fileprivate static func visible(_ name: String, upTo length: Int) -> BodyFields {
        BodyFields(name, .text(0...length).orNull, isRequired: false) { body, name throws(APIError) in
            guard let text = try body.wordOrNumber(name) else { return nil }
            guard text.utf8.allSatisfy({ 0x20...0x7E ~= $0 }) else {
                throw APIError(.invalidRequest, "A field has visible characters of ASCII", field: name)
            }
            return text
        }
    }
}
