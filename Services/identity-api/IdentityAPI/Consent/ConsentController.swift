internal import Accounts
internal import HTTPTypes
internal import HeliographCrypto
internal import JSON

/// Answers `GET /v1/consent`: the text that a sign-up has to consent to, if there is one.
struct ConsentController: Sendable {
    /// The requirement; nil when no consent is needed.
    let requirement: ConsentRequirement?

    func get(_: APICall<Void, Void, EmptyBody>) async throws -> RequiredConsent { RequiredConsent(requirement: requirement) }
}

/// The reply about the consent that a sign-up needs.
struct RequiredConsent: APIObject {
    static let members: [APIMember<RequiredConsent>] = [
        .required("required", \.isRequired), .optional("consent_version", \.requirement?.current.version),
        .optional("consent_sha256", \.requirement?.current.hashText), .optional("text", \.requirement?.text),
    ]

    let requirement: ConsentRequirement?
    var isRequired: Bool { requirement != nil }
}

extension ConsentedText {
    /// The hash in hexadecimal digits.
    var hashText: String { Hex.encode(hash) }
}

extension APIOperation {
    /// The consent that a sign-up needs.
    static let getConsent = APIOperation(
        .get, "/v1/consent", id: "getConsent", area: .faces, summary: "Whether a sign-up needs a consent, and its text and version",
        from: .anyone(),
        reply: .data(
            "The consent",
            example: ["consent_version": "2026-01", "consent_sha256": APIProperty.consentHash, "text": APIProperty.consentText]),
        handler: { $0.consent.get })
}
