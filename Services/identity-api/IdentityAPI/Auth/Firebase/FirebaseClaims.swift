internal import Accounts
internal import FoundationEssentials
internal import JSON

/// Why an ID token is refused: a label of `firebase_tokens_total`, which the client does not learn.
enum FirebaseTokenFault: String, Error, CaseIterable {
    case malformed
    /// Another algorithm than RS256.
    case algorithm
    case issuer
    case audience
    case expired
    /// It was issued, or its sign-in was, later than now.
    case future
    case subject
    case unknownKey = "unknown_key"
    case signature
    /// Its sign-in was revoked.
    case revoked
    /// It cannot be judged, because Google's keys are not known now.
    case undecided
}

/// The project whose ID tokens are accepted.
struct FirebaseProject: Sendable, Equatable {
    let id: String

    /// The issuer of the project's ID tokens.
    var issuer: String { FederatedSubject.firebaseIssuer(ofProject: id) }

    /// Whether a text may be the id of a project: 4 to 63 lower-case letters, digits and hyphens, perhaps after a domain and a colon.
    static func isID(_ text: String) -> Bool {
        (4...63).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
                default: "-.:".utf8.contains(byte)
                }
            }
    }
}

/// The claims of an ID token that were checked, all but its signature.
///
/// Source of the checks: https://firebase.google.com/docs/auth/admin/verify-id-tokens#verify_id_tokens_using_a_third-party_jwt_library
struct FirebaseClaims: Sendable, Equatable {
    /// The time by which Google's clock may be ahead of ours. Expiry has no such leeway.
    static let maxClockSkew = 60
    /// The maximum length of a key's id.
    private static let maxKeyIDBytes = 256

    /// The key that the token is said to be signed with.
    let keyID: String
    /// The person's id in the project.
    let subject: String
    /// When the person signed in: the token and its successors are refreshed without that. Whole seconds.
    let signedInAt: Date
    let expiresAt: Date

    /// Reads and checks the claims of a token.
    init(_ token: UnverifiedToken, project: FirebaseProject, now: Date) throws(FirebaseTokenFault) {
        // An extension that must be understood (RFC 7515 §4.1.11) is not.
        guard token.header["alg"]?.string == "RS256", token.header["crit"] == nil else { throw .algorithm }
        guard let keyID = token.header["kid"]?.string, (1...Self.maxKeyIDBytes).contains(keyID.utf8.count) else { throw .malformed }
        guard token.payload["iss"]?.string == project.issuer else { throw .issuer }
        guard token.payload["aud"]?.string == project.id else { throw .audience }
        guard let expires = token.payload["exp"]?.integer, let issued = token.payload["iat"]?.integer,
            let signedIn = token.payload["auth_time"]?.integer
        else { throw .malformed }
        let seconds = now.timeIntervalSince1970
        guard Double(expires) > seconds else { throw .expired }
        guard Double(max(issued, signedIn)) <= seconds + Double(Self.maxClockSkew) else { throw .future }
        guard let subject = token.payload["sub"]?.string, FederatedSubject.isSubject(subject) else { throw .subject }
        self.keyID = keyID
        self.subject = subject
        signedInAt = Date(timeIntervalSince1970: Double(signedIn))
        expiresAt = Date(timeIntervalSince1970: Double(expires))
    }
}
