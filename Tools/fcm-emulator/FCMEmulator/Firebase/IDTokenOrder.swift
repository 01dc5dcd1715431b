import FoundationEssentials
import HeliographCrypto
import JSON

/// A fault of an ID token that is made on purpose.
public enum IDTokenFault: String, Sendable, CaseIterable {
    /// Signed with another key than its header names.
    case wrongKey = "wrong_key"
    /// Its header names a key that is not published.
    case unknownKey = "unknown_kid"
    /// It expired an hour ago.
    case expired
    /// It was issued by a clock that is ten minutes ahead.
    case skew
    case wrongAudience = "wrong_audience"
    case wrongIssuer = "wrong_issuer"
    case noSubject = "no_subject"
    /// Without a signature (`alg` is `none`).
    case unsigned
    /// Signed by HMAC with the public key as its secret, a known attack on verifiers that obey `alg`.
    case hmac
}

/// An order of an ID token.
public struct IDTokenOrder: Sendable {
    /// The person's id in the project; 1 to 128 characters.
    public var subject: String
    /// The project; nil means the emulator's.
    public var project: String?
    /// The person's e-mail address, said to be verified.
    public var email: String?
    /// When the person signed in, in seconds since 1970; nil means now.
    public var signedInAt: Int?
    /// Seconds until the token expires; Firebase's live for an hour.
    public var expiresIn = 3_600
    /// The fault that the token has.
    public var fault: IDTokenFault?

    /// Orders a valid token of the emulator's project.
    public init(subject: String) { self.subject = subject }

    /// The claims, as Firebase has them for a sign-in with a password.
    func claims(project: String, now: Date) -> JSONValue {
        var now = Int(now.timeIntervalSince1970)
        if fault == .skew { now += 600 }
        if fault == .expired { now -= 7_200 }
        let named = fault == .wrongAudience ? "another-project" : self.project ?? project
        let issuer = fault == .wrongIssuer ? "https://accounts.google.com" : "https://securetoken.google.com/\(self.project ?? project)"
        let person = fault == .noSubject ? "" : subject
        let identities: JSONValue = email.map { ["email": [.string($0)]] } ?? [:]
        return .members(
            ("iss", .string(issuer)), ("aud", .string(named)),
            ("auth_time", .integer(signedInAt ?? now)), ("user_id", .string(person)), ("sub", .string(person)), ("iat", .integer(now)),
            ("exp", .integer(now + (fault == .expired ? 3_600 : expiresIn))), ("email", email.map(JSONValue.string)),
            ("email_verified", email == nil ? nil : true),
            ("firebase", ["identities": identities, "sign_in_provider": "password"]))
    }

    /// Makes the token.
    func sign(with signer: IDTokenSigner, project: String, now: Date) async throws -> String {
        let current = try await signer.current
        let key = fault == .wrongKey ? try await signer.unpublished : current
        let algorithm = fault == .unsigned ? "none" : fault == .hmac ? "HS256" : "RS256"
        let id = fault == .unknownKey ? RandomText.hexadecimal(40) : current.id
        let header: JSONValue = ["alg": .string(algorithm), "kid": .string(id), "typ": "JWT"]
        let claims = claims(project: project, now: now)
        let signed = "\(Base64URL.encode(header.bytes)).\(Base64URL.encode(claims.bytes))"
        let message = Array(signed.utf8)
        let signature =
            switch fault {
            case .unsigned: [UInt8]()
            case .hmac: HMACSHA256.authenticate(message, key: Array(try current.publicKey.pem().utf8))
            default: try key.privateKey.signRS256(message)
            }
        return "\(signed).\(Base64URL.encode(signature))"
    }
}
