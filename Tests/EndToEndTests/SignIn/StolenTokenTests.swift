import Foundation
import HeliographCrypto
import TestSupport
import Testing

@testable import IdentityAPI

/// What a thief can do with the tokens and the proofs of a sign-in with a device key, but not with the key (docs/THREAT-MODEL.md, T54 and
/// T55).
@Suite struct StolenTokenTests {
    /// The requests that need a recent sign-in; the upload of a face is the fifth.
    private static let requests = [
        ("GET", "/v1/users/me/export"), ("PUT", "/v1/users/me/email"), ("DELETE", "/v1/users/me/face"), ("DELETE", "/v1/users/me"),
    ]

    /// Makes the attempts of an attack, and expects that none succeeds.
    private func attack(_ name: String, _ attempt: (Int) async throws -> TestSupport.Answer) async throws {
        var result = AttackResult(name)
        for number in 0..<SignInScale.current.attempts {
            let answer = try await attempt(number)
            result.add("\(answer.status) \(answer.body["error"]["code"].text ?? "")", isSuccess: answer.status < 300)
        }
        result.report()
        #expect(result.successes == 0, "\(result)")
    }

    @Test func `a stolen refresh token gives no tokens, and its owner stays signed in`() async throws {
        let owner = try await SignedInOwner.make(try await Stack.shared())
        let (thief, body) = (try await Phone.make(owner.phone.stack), SignedInOwner.body(owner.refresh))
        try await attack("stolen refresh token, without a proof") { _ in
            try await thief.send("POST", SignedInOwner.refreshPath, json: body)
        }
        try await attack("stolen refresh token, with another key") { _ in
            try await thief.send("POST", SignedInOwner.refreshPath, json: body, by: try DeviceSigner())
        }
        for (name, proof) in try Self.forgedProofs(owner) {
            try await attack("stolen refresh token, \(name)") { _ in
                try await thief.send("POST", SignedInOwner.refreshPath, json: body, bearer: nil, proof: try proof())
            }
        }
        #expect(try await owner.renew(owner.refresh).status == 200)
    }

    @Test func `a proof that was used gives no tokens again`() async throws {
        let owner = try await SignedInOwner.make(try await Stack.shared())
        let tokens = TokenChain(owner.refresh)
        try await attack("proof replayed, with the next refresh token") { _ in
            let proof = try owner.device.proof(SignedInOwner.refreshClaims())
            let renewed = try await owner.renew(tokens.current, proof: proof)
            try tokens.take(renewed)
            return try await owner.renew(tokens.current, proof: proof)
        }
        #expect(try await owner.renew(tokens.current).status == 200)
    }

    @Test func `a stolen access token takes no account over`() async throws {
        let owner = try await SignedInOwner.make(try await Stack.shared())
        let thief = try await Phone.make(owner.phone.stack)
        func send(_ number: Int, _ proof: (String, String) throws -> String?) async throws -> TestSupport.Answer {
            guard number % 5 < 4 else {
                let proof = try proof("POST", "/api/v1/ekyc/upload-photos")
                return try await thief.signUp(email: nil, comment: UUID().uuidString, bearer: owner.access, proof: proof)
            }
            let (method, path) = Self.requests[number % 5]
            let json = method == "PUT" ? #"{"email":"thief-\#(number)@example.org"}"# : nil
            return try await thief.send(method, path, json: json, bearer: owner.access, proof: try proof(method, path))
        }
        try await attack("stolen access token on the five requests, without a proof") { number in
            try await send(number) { _, _ throws in nil }
        }
        try await attack("stolen access token on the five requests, with another key") { number in
            try await send(number) { try DeviceSigner().proof(.init($0, Stack.publicURL + $1, token: owner.access)) }
        }
        try await attack("stolen access token on the five requests, with a proof of another token") { number in
            try await send(number) { try owner.device.proof(.init($0, Stack.publicURL + $1, token: "another")) }
        }
        #expect(try await owner.phone.get("/v1/users/me", bearer: owner.access).status == 200)
    }

    /// Proofs that name the owner's key, or come from it for something else.
    private static func forgedProofs(_ owner: SignedInOwner) throws -> [(String, () throws -> String)] {
        let device = owner.device
        func changed(_ change: @escaping (inout DeviceSigner.Claims) -> Void) -> () throws -> String {
            return {
                var claims = SignedInOwner.refreshClaims()
                change(&claims)
                return try device.proof(claims)
            }
        }
        func resigned(_ header: String, _ signature: @escaping ([UInt8]) throws(CryptoError) -> [UInt8]) -> () throws -> String {
            return {
                let jws = try #require(JWS(try device.proof(SignedInOwner.refreshClaims())))
                return try JWS.compact(header: Array(header.utf8), payload: jws.payload, signature: signature)
            }
        }
        let sessionKey = try #require(owner.phone.stack.setting("SESSION_KEY").flatMap { Data(base64Encoded: $0) })
        let old = DeviceNonces(sessionKey: Array(sessionKey)).issue(at: Date(timeIntervalSinceNow: -301))
        let thief = try P256PrivateKey()
        return [
            ("with a proof for another path", changed { $0.url = Stack.publicURL + "/v1/users/me/export" }),
            ("with a proof for another host", changed { $0.url = "https://api.example.com" + SignedInOwner.refreshPath }),
            ("with a proof for another method", changed { $0.method = "GET" }),
            (
                "with an old nonce",
                changed {
                    $0.nonce = old
                    $0.issuedAt = Date(timeIntervalSinceNow: -301)
                }
            ),
            ("with a proof of an hour ago", changed { $0.issuedAt = Date(timeIntervalSinceNow: -3_600) }),
            ("signed by another key", { try device.proof(SignedInOwner.refreshClaims(), signedBy: thief) }),
            (
                "with `alg: none`",
                resigned(#"{"typ":"dpop+jwt","alg":"none","jwk":\#(device.jwk)}"#) { _ throws(CryptoError) in [] }
            ),
            (
                "with a key on another curve",
                resigned(#"{"typ":"dpop+jwt","alg":"ES256","jwk":{"kty":"EC","crv":"P-384","x":"AA","y":"AA"}}"#) {
                    bytes throws(CryptoError) in try thief.signES256(bytes)
                }
            ),
        ]
    }
}

/// The refresh tokens of a sign-in, each of which is used once.
private final class TokenChain {
    private(set) var current: String

    init(_ first: String) { current = first }

    func take(_ renewed: TestSupport.Answer) throws {
        current = try #require(renewed.body["refresh_token"].text, "the owner is signed out: \(renewed.status) \(renewed.body)")
    }
}
