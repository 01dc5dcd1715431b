internal import FoundationEssentials

/// The body that registers an e-mail address.
struct RegistrationBody: JSONObjectBody {
    static let fields = BodyFields<RegistrationBody>(.email, .optionalText(DisplayName.field, .displayName)) {
        email, name throws(APIError) in
        RegistrationBody(email: email, name: try name.map { name throws(APIError) in try DisplayName(name) })
    }
    static let maxBytes = EmailBody.maxBytes

    let email: String
    let name: DisplayName?
}

/// The body that names an e-mail address.
struct EmailBody: JSONObjectBody {
    static let fields = BodyFields<EmailBody>(.email) { EmailBody(email: $0) }
    static let maxBytes = 4 * 1_024

    let email: String
}

/// The body that asks for a new code.
struct ResendBody: JSONObjectBody {
    static let fields = BodyFields<ResendBody>(.verificationID) { ResendBody(id: $0) }
    static let maxBytes = EmailBody.maxBytes

    let id: UUID
}

/// The body that enters a code.
struct VerifyBody: JSONObjectBody {
    static let fields = BodyFields<VerifyBody>(.verificationID, .code) { VerifyBody(id: $0, code: $1) }
    static let maxBytes = EmailBody.maxBytes

    let id: UUID
    let code: EnteredCode
}

extension BodyFields<String> {
    /// An e-mail address, not yet checked.
    fileprivate static var email: BodyFields { text(UploadForm.email, .text(3...254)) }
}

extension BodyFields<UUID> {
    fileprivate static var verificationID: BodyFields { id("verification_id", or: "A verification is named by a UUID") }
}

extension BodyFields<EnteredCode> {
    fileprivate static var code: BodyFields {
        BodyFields(EnteredCode.field, .text(1...16)) { body, _ throws(APIError) in try EnteredCode(body) }
    }
}

extension BodyFields<EnteredCode?> {
    /// A code that may be missing.
    static var optionalCode: BodyFields {
        BodyFields(EnteredCode.field, .text(1...16).orNull, isRequired: false) { body, name throws(APIError) in
            try body.wordOrNumber(name) == nil ? nil : try EnteredCode(body)
        }
    }
}
