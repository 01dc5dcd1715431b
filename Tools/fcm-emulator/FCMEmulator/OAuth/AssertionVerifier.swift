import FoundationEssentials
import HeliographCrypto
import JSON

/// A refusal of the token endpoint, in Google's words.
struct OAuthRefusal: Error, Equatable {
    let error: String
    let description: String

    static let badSignature = OAuthRefusal(error: "invalid_grant", description: "Invalid JWT Signature.")
    static let badTimes = OAuthRefusal(
        error: "invalid_grant",
        description: "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. "
            + "Check your iat and exp values in the JWT claim.")
    static let unknownAccount = OAuthRefusal(error: "invalid_grant", description: "Invalid grant: account not found")
    static let badScope = OAuthRefusal(
        error: "invalid_scope", description: "Invalid OAuth scope or ID token audience provided.")
    static let malformed = OAuthRefusal(
        error: "invalid_grant", description: "Bad Request: the assertion is not a JSON Web Token.")

    static func badAudience(_ right: String) -> OAuthRefusal {
        OAuthRefusal(
            error: "invalid_grant", description: "Invalid JWT: Failed audience check. The right audience is \(right)")
    }
    static func missing(_ parameter: String) -> OAuthRefusal {
        OAuthRefusal(error: "invalid_request", description: "Required parameter is missing: \(parameter)")
    }
    static func grantType(_ grantType: String) -> OAuthRefusal {
        OAuthRefusal(error: "unsupported_grant_type", description: "Invalid grant_type: \(grantType)")
    }

    /// The body of the answer, whose status is always 400.
    var body: JSONValue { ["error": .string(error), "error_description": .string(description)] }
}

/// Checks the signed assertion with which a service account requests an access token (RFC 7523, Google's variant).
struct AssertionVerifier: Sendable {
    /// The only grant that a service account uses.
    static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    /// Maximum lifetime of an assertion, in seconds.
    static let maximumLifetimeSeconds = 3600
    /// Maximum deviation of the caller's clock, in seconds.
    static let skewSeconds = 300
    /// The scopes that allow sending.
    static let scopes: Set = [
        "https://www.googleapis.com/auth/firebase.messaging", "https://www.googleapis.com/auth/cloud-platform",
    ]

    let account: ServiceAccount
    /// The audiences accepted; the first is named in the refusal.
    let audiences: [String]

    /// Checks the form of a token request; throws unless an access token may be issued.
    func verify(form: [String: String], now: Date) throws(OAuthRefusal) {
        guard let grantType = form["grant_type"], !grantType.isEmpty else { throw .missing("grant_type") }
        guard grantType == Self.grantType else { throw .grantType(grantType) }
        guard let assertion = form["assertion"], !assertion.isEmpty else { throw .missing("assertion") }
        guard let jws = JWS(assertion), let header = try? JSONValue(parsing: jws.header), let claims = try? JSONValue(parsing: jws.payload)
        else { throw .malformed }

        guard claims["iss"]?.string == account.clientEmail else { throw .unknownAccount }
        // An assertion signed by a deleted key carries another kid: Google refuses it as a bad signature as well.
        guard header["alg"]?.string == "RS256",
            header["kid"].map({ $0.string == account.privateKeyID }) ?? true,
            account.publicKey.verifyRS256(signature: jws.signature, message: jws.signedBytes)
        else { throw .badSignature }
        guard let audience = claims["aud"]?.string, audiences.contains(audience) else { throw .badAudience(audiences[0]) }
        try check(issued: claims["iat"], expires: claims["exp"], now: Int(now.timeIntervalSince1970))
        let requested = claims["scope"]?.string?.split(separator: " ").map(String.init) ?? []
        guard requested.contains(where: Self.scopes.contains) else { throw .badScope }
    }

    private func check(issued: JSONValue?, expires: JSONValue?, now: Int) throws(OAuthRefusal) {
        guard let issued = issued?.integer, let expires = expires?.integer, expires > issued,
            expires - issued <= Self.maximumLifetimeSeconds, issued <= now + Self.skewSeconds,
            expires > now - Self.skewSeconds
        else { throw .badTimes }
    }
}
