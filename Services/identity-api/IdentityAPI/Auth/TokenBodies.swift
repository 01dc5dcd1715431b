internal import Accounts
internal import FoundationEssentials
internal import JSON

/// The body that asks for the tokens of a sign-in; it may be missing.
struct RedeemBody: JSONObjectBody {
    static let fields = BodyFields<RedeemBody>(.optionalCode) { RedeemBody(code: $0) }
    static let maxBytes = EmailBody.maxBytes
    static let isRequired = false

    /// The mailed code, on a device that is new to the account.
    let code: EnteredCode?
}

/// The body that renews tokens.
struct RefreshBody: JSONObjectBody {
    static let fields = BodyFields<RefreshBody>(.word("refresh_token")) { RefreshBody(token: $0) }
    static let maxBytes = 4 * 1_024

    let token: String
}

/// The token object of RFC 6749 §5.1.
struct TokenReply: APIObject {
    static let members: [APIMember<TokenReply>] = [
        .required("access_token", \.tokens.access.text), .required("refresh_token", \.tokens.refresh.text),
        .constant("token_type", "Bearer"), .required("expires_in", \.expiresIn), .required("user_id", \.userID),
    ]

    let tokens: TokenPair
    let expiresIn: Int
    let userID: UUID
}
