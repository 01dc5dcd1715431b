internal import Accounts
internal import FoundationEssentials
internal import HeliographCrypto
internal import JSON

/// A proof that its sender holds the private key of a device, which was checked: a DPoP proof (RFC 9449 §4).
struct DeviceProof: Sendable, Equatable {
    let key: DeviceKey
    /// SHA-256 of the key and the proof's `jti`, by which a second use is found.
    let id: [UInt8]
    /// From when the proof is not taken any more, on no instance: its use need not be remembered.
    let forgottenAt: Date
}

/// Why a proof is refused: a label of `device_proofs_total`.
enum DeviceProofFault: String, Error, CaseIterable {
    /// It is too long, or no JSON Web Token.
    case malformed
    /// Its `typ` is not `dpop+jwt`.
    case type
    /// Its `alg` is not `ES256`, or it has an extension that must be understood.
    case algorithm
    /// Its `jwk` is no public key on P-256.
    case key
    case signature
    /// Its `jti` is missing, empty or too long.
    case id = "jti"
    case method = "htm"
    case url = "htu"
    case token = "ath"
    /// It has no nonce, and its time is not about now.
    case time = "iat"
    /// Its nonce has ended, or is not ours.
    case nonce
    /// A request with this proof was answered before.
    case used
    /// It is of another key than the sign-in.
    case otherKey = "other_key"

    /// The sentence for the client.
    var message: String {
        switch self {
        case .malformed: "The DPoP proof is no JSON Web Token, or there are several"
        case .type: "The `typ` of the DPoP proof is not \"dpop+jwt\""
        case .algorithm: "The `alg` of the DPoP proof is not \"ES256\""
        case .key: "The `jwk` of the DPoP proof is no public key on P-256"
        case .signature: "The signature of the DPoP proof is not of its key"
        case .id: "The `jti` of the DPoP proof has not 1 to \(DeviceProofVerifier.maxIDBytes) bytes"
        case .method: "The `htm` of the DPoP proof is not the method of this request"
        case .url: "The `htu` of the DPoP proof is not the URL of this request"
        case .token: "The `ath` of the DPoP proof is not the hash of the bearer token"
        case .time: "The `iat` of the DPoP proof is not within a minute of now: send a proof with this `nonce`"
        case .nonce: "The `nonce` of the DPoP proof has ended: send a proof with this one"
        case .used: "The DPoP proof was used before: make another one for each request"
        case .otherKey: "The DPoP proof is of another key than the sign-in"
        }
    }

    /// The member of the proof that is at fault, by which an app finds that its device has lost the key: `jwk`.
    var field: String? {
        switch self {
        case .malformed, .signature: nil
        case .type: "typ"
        case .algorithm: "alg"
        case .key, .otherKey: "jwk"
        case .id, .used: "jti"
        case .method, .url, .token, .time, .nonce: rawValue
        }
    }
}

/// Checks proofs of device keys.
struct DeviceProofVerifier: Sendable {
    /// The time by which the clock of a phone may be wrong without a nonce.
    static let maxClockSkew: TimeInterval = 60
    /// The time for which a use is remembered beyond the end of the proof. The upload of a sign-in takes up to ten minutes after its proof
    /// was checked; clocks of different machines, and the transaction, take less than the rest.
    static let memoryMargin = FaceChallenge.maxUploadTime + 2 * 60
    /// The maximum length of a `jti`.
    static let maxIDBytes = 128

    let nonces: DeviceNonces
    /// The URLs at which apps reach the API.
    let urls: [ProofURL]

    /// What a proof has to be of.
    struct Subject: Sendable {
        let method: String
        /// The path of the request, as it was sent.
        let path: String
        /// The bearer token of the request; nil without one.
        let token: String?
    }

    /// Returns a valid proof.
    ///
    /// The signature is checked last, because it costs most, but less than a query, so that it needs no thread of its own.
    /// Nothing is stored: see ``UsedDeviceProofRepository``.
    func verify(_ text: String, of subject: Subject, now: Date) throws(DeviceProofFault) -> DeviceProof {
        guard let token = UnverifiedToken(text) else { throw .malformed }
        guard token.header["typ"]?.string == "dpop+jwt" else { throw .type }
        guard token.header["alg"]?.string == "ES256", token.header["crit"] == nil else { throw .algorithm }
        let claims = token.payload
        guard let id = claims["jti"]?.string, 1...Self.maxIDBytes ~= id.utf8.count else { throw .id }
        guard claims["htm"]?.string == subject.method else { throw .method }
        guard let url = claims["htu"]?.string.flatMap({ ProofURL($0) }), urls.contains(where: { url == $0.appending(subject.path) }) else {
            throw .url
        }
        let hash = subject.token.map { Base64URL.encode(SHA256.hash($0)) }
        guard claims["ath"]?.string == hash else { throw .token }
        let end = try end(of: claims, now: now)
        let key = try Self.key(token.header["jwk"])
        guard key.verifyES256(signature: token.jws.signature, message: token.jws.signedBytes) else { throw .signature }
        return DeviceProof(
            key: DeviceKey(
                thumbprint: key.thumbprint, storage: claims["key_storage"]?.string.flatMap { DeviceKeyStorage(rawValue: $0) } ?? .software),
            id: SHA256.hash(key.thumbprint + Array(id.utf8)), forgottenAt: end + Self.memoryMargin)
    }

    /// Returns when the proof ends: with its nonce, or a minute after its time.
    private func end(of claims: JSONValue, now: Date) throws(DeviceProofFault) -> Date {
        guard let issued = claims["iat"]?.integer.map({ Date(timeIntervalSince1970: Double($0)) }) else { throw .time }
        guard let nonce = claims["nonce"] else {
            guard abs(issued.timeIntervalSince(now)) <= Self.maxClockSkew else { throw .time }
            return issued + Self.maxClockSkew
        }
        guard let end = nonce.string.flatMap({ nonces.end(of: $0, at: now) }) else { throw .nonce }
        return end
    }

    /// Reads a public key; a private one is refused, because it is known now.
    private static func key(_ jwk: JSONValue?) throws(DeviceProofFault) -> P256PublicKey {
        guard let jwk, jwk["kty"]?.string == "EC", jwk["crv"]?.string == "P-256", jwk["d"] == nil,
            let x = jwk["x"]?.string.flatMap({ Base64URL.decode($0) }), let y = jwk["y"]?.string.flatMap({ Base64URL.decode($0) }),
            let key = try? P256PublicKey(x: x, y: y)
        else { throw .key }
        return key
    }
}
