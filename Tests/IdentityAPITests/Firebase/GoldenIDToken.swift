import AsyncPrimitives
import Foundation
import HeliographCrypto
import Logging

@testable import IdentityAPI

/// An ID token of a sign-in with a password, as Firebase makes them; signed by the command `openssl` with the key of RFC 7515 A.2.
enum GoldenIDToken {
    static let project = FirebaseProject(id: "heliograph-dev")
    static let keyID = "rfc7515-a2"
    /// When the person signed in, in seconds since 1970; the token was issued an hour later, and lives for an hour.
    static let signedInAt = 1_764_028_800
    static let issuedAt = signedInAt + 3_600
    static let expiresAt = issuedAt + 3_600

    static let text = """
        eyJhbGciOiJSUzI1NiIsImtpZCI6InJmYzc1MTUtYTIiLCJ0eXAiOiJKV1QifQ.\
        eyJpc3MiOiJodHRwczovL3NlY3VyZXRva2VuLmdvb2dsZS5jb20vaGVsaW9ncmFwaC1kZXYiLCJhdWQiOiJoZWxpb2dyYXBoLWRldiIsImF1dGhf\
        dGltZSI6MTc2NDAyODgwMCwidXNlcl9pZCI6ImFkYS11aWQiLCJzdWIiOiJhZGEtdWlkIiwiaWF0IjoxNzY0MDMyNDAwLCJleHAiOjE3NjQwMzYw\
        MDAsImVtYWlsIjoiYWRhQGV4YW1wbGUub3JnIiwiZW1haWxfdmVyaWZpZWQiOnRydWUsImZpcmViYXNlIjp7ImlkZW50aXRpZXMiOnsiZW1haWwi\
        OlsiYWRhQGV4YW1wbGUub3JnIl19LCJzaWduX2luX3Byb3ZpZGVyIjoicGFzc3dvcmQifX0.\
        dgSuVDo--iSVxCzxB2gLK6Vt9da3gmzoTTF58bgZURirGMzFX9dM0mi8c8xiMcP6dhX0oqylG_CPhFkH_Tj24mKacZobiVtgrQFkQzR1xn2ai9Wg\
        OFe2uX2K4n1sRUJHaeTMpQWq1Cp-o2Mk80MyJTwfUxbfbFUSVgQqfG71DV_yWLxxmas4lJ7y6uAzPY5csAcZ5URwmrCbjPbhSANKzYKvuGr7aIEx\
        1Y9PQvColgMBYRQH6lEL_71q1-oh5LWxhQymlIqJHIkrKIo3dfrW5e1h4VI6RcHvrYnt1f2B9aUUW_KDkbMt51qUPD0mVIGgpklJ-M__m841sssF\
        ZGh69w
        """

    /// The modulus of the key; its exponent is 65537.
    private static let modulus = """
        ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZ\
        S-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2\
        R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcD\
        TW9gb54h4FRWyuXpoQ
        """

    /// The keys as Google's server sends them.
    static let keySet = """
        {"keys":[{"kty":"RSA","alg":"RS256","use":"sig","kid":"\(keyID)","n":"\(modulus)","e":"AQAB"},
        {"kty":"EC","crv":"P-256","kid":"another","x":"","y":""}]}
        """

    static func key() throws -> RSAPublicKey {
        try RSAPublicKey(modulus: Base64URL.decode(modulus) ?? [], exponent: [1, 0, 1])
    }

    /// A verifier that knows the key.
    static func verifier() throws -> FirebaseTokenVerifier {
        let key = try key()
        let logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
        let source = SigningKeySource(clock: ContinuousClock(), logger: logger) {
            FetchedKeys(keys: [keyID: key], lifetime: .seconds(3_600))
        }
        return FirebaseTokenVerifier(project: project, keys: source)
    }

    static func time(_ seconds: Int) -> Date { Date(timeIntervalSince1970: Double(seconds)) }
}
