internal import FoundationEssentials
internal import HeliographCrypto

/// Verifies Firebase ID tokens: their claims and the signature of Google's key.
struct FirebaseTokenVerifier: Sendable {
    let project: FirebaseProject
    let keys: SigningKeySource

    /// Returns the claims of a valid token.
    ///
    /// The claims are checked first, because that is cheap. Checking the signature is CPU-bound, some 30 µs for 2,048 bits, less than a
    /// query takes, and so needs no thread of its own.
    ///
    /// - Throws: The reason of a refusal; `undecided` when Google's keys are not known.
    func verify(_ text: String, now: Date) async throws(FirebaseTokenFault) -> FirebaseClaims {
        guard let token = UnverifiedToken(text) else { throw .malformed }
        let claims = try FirebaseClaims(token, project: project, now: now)
        switch await keys.key(claims.keyID) {
        case .known(let key):
            guard key.verifyRS256(signature: token.jws.signature, message: token.jws.signedBytes) else { throw .signature }
            return claims
        case .unknown: throw .unknownKey
        case .undecided: throw .undecided
        }
    }
}
