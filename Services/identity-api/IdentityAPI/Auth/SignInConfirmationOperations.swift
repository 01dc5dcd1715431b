internal import Accounts
internal import FoundationEssentials
internal import HTTPTypes
internal import JSON

extension APIOperation {
    /// Sign-ins on new devices that wait to be confirmed on a known one.
    static let signInConfirmations: [APIOperation] = [
        APIOperation(
            .get, "/v1/users/me/sign-in-confirmations", id: "listSignInConfirmations", area: .people,
            summary: "The sign-ins on new devices that wait for a code or a confirmation, the newest first", from: .user(.requests),
            reply: .data("The sign-ins that wait", in: "sign_ins", cacheControl: "no-store"),
            handler: { $0.people.confirmations.list }),
        APIOperation(
            .post, .waitingSignIn, id: "confirmSignIn", area: .people,
            summary: "Confirms a sign-in on a new device with the reference that it shows, in place of the mailed code. Needs a sign-in "
                + "with a device key, and a proof of it",
            from: .keyHolder(.changes), reply: .noContent("The new device gets its tokens"), errors: [.notFound, .invalidCode],
            repetition: "404: it is confirmed", handler: { $0.people.confirmations.confirm }),
        APIOperation(
            .delete, .waitingSignIn, id: "denySignIn", area: .people,
            summary: "Denies a sign-in on a new device: it gets no tokens. Needs a sign-in with a device key, and a proof of it",
            from: .keyHolder(.changes), reply: .noContent("The sign-in has ended"), errors: [.notFound],
            handler: { $0.people.confirmations.deny }),
    ]
}

extension APITarget<UUID> {
    fileprivate static var waitingSignIn: APITarget {
        APITarget(
            "/v1/users/me/sign-in-confirmations/{id}",
            .id("id", "The session that signs in on the new device", or: .confirmationNotFound))
    }
}

/// The body that confirms a sign-in.
struct ConfirmationBody: JSONObjectBody {
    static let fields = BodyFields<ConfirmationBody>(.enteredReference) { ConfirmationBody(reference: $0) }
    static let maxBytes = EmailBody.maxBytes

    let reference: EnteredReference
}

/// A reference as a person typed it. A text that cannot be one is refused before it is compared, so that it costs no attempt.
struct EnteredReference: Sendable {
    static let field = "reference"

    let letters: String

    /// Reads a text.
    ///
    /// - Throws: `invalid_request` for a text that cannot be a reference.
    init(_ text: String) throws(APIError) {
        letters = text.uppercased()
        guard letters.count == CodeReference.length, letters.allSatisfy(CodeReference.alphabet.contains) else {
            throw APIError(.invalidRequest, "A reference has \(CodeReference.length) letters", field: Self.field)
        }
    }
}

extension BodyFields<EnteredReference> {
    fileprivate static var enteredReference: BodyFields {
        BodyFields(EnteredReference.field, .reference) { body, name throws(APIError) in
            try EnteredReference(try body.requiredWord(name))
        }
    }
}

/// A sign-in that waits. The reference is not part of it: the person reads it on the new device.
struct WaitingSignIn: APIObject {
    static let members: [APIMember<WaitingSignIn>] = [
        .required("session_id", \.signIn.id), .required("created_at", \.signIn.createdAt), .required("expires_in", \.secondsLeft),
    ]

    let signIn: EmailVerification
    private var secondsLeft: Int { max(0, Int(signIn.codeExpiresAt?.timeIntervalSinceNow ?? 0)) }
}
