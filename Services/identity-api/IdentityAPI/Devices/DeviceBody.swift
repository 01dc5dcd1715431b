internal import FoundationEssentials
internal import Push
internal import Storage

/// The validated registration of an app's installation.
struct DeviceBody: Sendable {
    static let token = "device_token"
    static let fid = "fid"
    private static let platform = "platform"
    /// The platforms that can receive pushes.
    static let platforms: Set<String> = ["ios", "android", "web"]
    /// The maximum length of a version, and of a BCP 47 tag (RFC 5646 §4.4.1). A longer text is cut: it is no reason to refuse a
    /// registration.
    static let maxVersionLength = 64
    static let maxLocaleLength = 35

    let target: PushTarget
    let platform: String
    let appVersion: String?
    let locale: String?

    /// Reads a registration.
    ///
    /// - Throws: `missing_field` or `invalid_request`, which name the field and never contain its value.
    init(_ body: JSONBody) throws(APIError) {
        guard let target = try Self.target(token: try body.word(Self.token), fid: try body.word(Self.fid)) else {
            throw APIError(.missingField, "The device's push token is missing", field: Self.token)
        }
        self.target = target
        platform = try body.requiredWord(Self.platform).lowercased()
        guard Self.platforms.contains(platform) else {
            throw APIError(.invalidRequest, "The platform is one of ios, android and web", field: Self.platform)
        }
        appVersion = try Self.visible("app_version", of: body).map { String($0.prefix(Self.maxVersionLength)) }
        locale = try Self.visible("locale", of: body).map(Self.tag).flatMap { $0.isEmpty ? nil : $0 }
    }

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

    /// Reads a token or a Firebase installation id; one of them is enough. Nil without both.
    ///
    /// - Throws: `invalid_request` for an invalid value, and for two values of different installations.
    static func target(token: String?, fid: String?) throws(APIError) -> PushTarget? {
        let byToken = try PushTarget(ofClient: token, field: Self.token)
        let byID = try PushTarget(ofClient: fid, field: Self.fid)
        guard byID?.kind != .token else {
            throw APIError(.invalidRequest, "The Firebase installation id is not one", field: Self.fid)
        }
        guard let byToken, let byID else { return byID ?? byToken }
        guard byToken.installationKey == byID.installationKey else {
            throw APIError(.invalidRequest, "The token and the Firebase installation id are of two installations", field: Self.fid)
        }
        // An app that has both has moved to installation ids, so its token may not work any more.
        return byID
    }

    private static func visible(_ field: String, of body: JSONBody) throws(APIError) -> String? {
        guard let text = try body.wordOrNumber(field) else { return nil }
        guard text.utf8.allSatisfy({ 0x20...0x7E ~= $0 }) else {
            throw APIError(.invalidRequest, "A field has visible characters of ASCII", field: field)
        }
        return text
    }
}
