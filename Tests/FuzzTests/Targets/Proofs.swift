import Accounts
import Foundation
import HeliographCrypto
import JSON

@testable import IdentityAPI

extension FuzzTarget {
    /// A byte that chooses what comes after it: the parts of a proof, claims that are then signed, a URL, or changes of a nonce.
    static let proofs = FuzzTarget(name: "proofs") { bytes in
        var input = FuzzInput(bytes)
        let checks = [checkProofParts, checkSignedProof, checkProofURL, checkChangedNonce]
        let check = checks[Int(input.byte()) % checks.count]
        try check(&input)
    }

    private static let now = Date(timeIntervalSince1970: 1_761_559_200)
    private static let nonces = DeviceNonces(sessionKey: [UInt8](repeating: 7, count: 32))
    private static let subject = DeviceProofVerifier.Subject(method: "POST", path: "/p", token: nil)
    /// What is checked holds for each key, so that its randomness does not matter.
    private static let key = try? P256PrivateKey()

    private static func verifier() throws -> DeviceProofVerifier {
        guard let url = ProofURL("https://fuzz.example") else { throw Disagreement(description: "a URL is refused") }
        return DeviceProofVerifier(nonces: nonces, urls: [url])
    }

    /// The header, the payload and the signature, one a line; as they are, and encoded. A key that signed nothing proves nothing.
    private static func checkProofParts(_ input: inout FuzzInput) throws {
        let parts = input.bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 2).map { Base64URL.encode(Array($0)) }
        for text in [input.text, parts.joined(separator: ".")] {
            let proof = try? verifier().verify(text, of: subject, now: now)
            try require(proof == nil, "a forged proof")
        }
    }

    /// Any claims, with the right signature.
    private static func checkSignedProof(_ input: inout FuzzInput) throws {
        guard let key else { throw Disagreement(description: "no key is made") }
        let (x, y) = (Base64URL.encode(key.coordinates.x), Base64URL.encode(key.coordinates.y))
        let header = #"{"typ":"dpop+jwt","alg":"ES256","jwk":{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)"}}"#
        let payload = input.bytes
        let text = try JWS.compact(header: Array(header.utf8), payload: payload) { bytes throws(CryptoError) in try key.signES256(bytes) }
        guard let proof = try? verifier().verify(text, of: subject, now: now) else { return }
        let claims = try JSONValue(parsing: payload)
        try requireEqual(claims["htm"]?.string, "POST", "the method")
        try require(claims["htu"]?.string?.lowercased().hasPrefix("https://fuzz.example") ?? false, "the host")
        try require(1...DeviceProofVerifier.maxIDBytes ~= claims["jti"]?.string?.utf8.count ?? 0, "the limit of an id")
        try require(proof.forgottenAt > now, "a proof that has ended")
        try require(proof.forgottenAt <= now + 1_200, "a proof that is remembered for long")
        try requireEqual(proof.key.thumbprint, try key.publicKey.thumbprint, "the key")
        try requireEqual(proof, try? verifier().verify(text, of: subject, now: now), "the same proof again")
    }

    /// A URL is that of a request only if its scheme, host and path are.
    private static func checkProofURL(_ input: inout FuzzInput) throws {
        let text = input.text
        guard let url = ProofURL(text), url == ProofURL("https://fuzz.example")?.appending("/p") else { return }
        let rest = text.prefix { $0 != "?" && $0 != "#" }
        try require(rest.hasSuffix("/p"), "another path")
        let origin = rest.dropLast(2).lowercased()
        try require(origin.hasPrefix("https://fuzz.example"), "another host")
        let port = origin.dropFirst("https://fuzz.example".count)
        try require(port.isEmpty || (port.first == ":" && UInt16(port.dropFirst()) == 443), "another port")
    }

    /// Each change of a nonce makes it invalid: pairs of a place and a byte that is added to the one there by XOR.
    private static func checkChangedNonce(_ input: inout FuzzInput) throws {
        let nonce = nonces.issue(at: now)
        var bytes = Array(nonce.utf8)
        while !input.rest.isEmpty { bytes[Int(input.byte()) % bytes.count] ^= input.byte() }
        let changed = String(decoding: bytes, as: UTF8.self)
        try requireEqual(nonces.end(of: changed, at: now) != nil, changed == nonce, "a changed nonce")
    }
}
