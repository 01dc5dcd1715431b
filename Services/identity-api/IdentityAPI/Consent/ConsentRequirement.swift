internal import Accounts
internal import HeliographCrypto
internal import JSON
internal import ServiceDefaults

/// The text that a person consents to before photos of a face are processed. Every sign-up names its version; it is not asked for at
/// sign-ins, which compare with a face that was consented to.
struct ConsentRequirement: Sendable {
    /// The form field that names the version.
    static let field = "consent_version"
    /// The maximum size of the text.
    private static let maxTextBytes = 64 * 1_024

    /// The text, as it is served.
    let text: String
    /// Its version and hash, as they are stored.
    let current: ConsentedText

    init(version: String, text: String) {
        self.text = text
        current = ConsentedText(version: version, hash: SHA256.hash(text))
    }

    /// Reads the settings; nil when no consent is required.
    init?(_ settings: Settings) throws(ConfigurationError) {
        let (versionName, textName) = ("CONSENT_VERSION", "CONSENT_TEXT")
        let versionRule = "1 to 64 of A-Z a-z 0-9 _ . -, together with CONSENT_TEXT"
        let textRule = "1 to \(Self.maxTextBytes) bytes of text, together with CONSENT_VERSION"
        let version = try settings.optionalString(
            versionName, versionRule, about: "the version of the consent that every sign-up must name; change it with the text")
        let text = try settings.optionalString(
            textName, textRule, about: "what people consent to before their faces are processed, served at `GET /v1/consent`")
        switch (version, text) {
        case (nil, nil): return nil
        case (nil, _?): throw ConfigurationError(versionName, "is missing", expectation: versionRule)
        case (_?, nil): throw ConfigurationError(textName, "is missing", expectation: textRule)
        case (let version?, let text?):
            guard ConsentedText.isVersion(version) else {
                throw ConfigurationError(versionName, "is not valid", expectation: versionRule)
            }
            guard text.utf8.count <= Self.maxTextBytes else {
                throw ConfigurationError(textName, "is too long", expectation: textRule)
            }
            self.init(version: version, text: text)
        }
    }

    /// Checks the version that a sign-up names.
    ///
    /// - Throws: `consent_required` with the current version, for one that is missing or not current.
    func check(_ version: String?) throws(APIError) -> ConsentedText {
        guard version == current.version else {
            var error = APIError(
                .consentRequired, "A sign-up names the version of the consent that was given: show the text, and ask for it",
                field: Self.field)
            error.members = Self.describe(current)
            throw error
        }
        return current
    }

    /// Describes a text by its version and hash.
    static func describe(_ text: ConsentedText) -> [JSONValue.Member] {
        [
            JSONValue.Member("consent_version", .string(text.version)),
            JSONValue.Member("consent_sha256", .string(text.hashText)),
        ]
    }
}
