import Accounts
import Foundation
import HeliographCrypto
import TestSupport
import Testing

@testable import IdentityAPI

@Suite struct DeviceProofTests {
    private static let now = Date(timeIntervalSince1970: 1_780_000_000)
    private let nonces = DeviceNonces(sessionKey: [UInt8](repeating: 1, count: 32))
    private let device: DeviceSigner

    init() throws { device = try DeviceSigner() }

    private var verifier: DeviceProofVerifier {
        DeviceProofVerifier(nonces: nonces, urls: [ProofURL("https://api.example.org")!, ProofURL("https://eu.example.org/face")!])
    }

    private func claims(_ change: (inout DeviceSigner.Claims) -> Void = { _ in }) -> DeviceSigner.Claims {
        var claims = DeviceSigner.Claims("POST", "https://api.example.org/api/v1/auth/refresh")
        claims.issuedAt = Self.now
        change(&claims)
        return claims
    }

    private func verify(_ text: String, token: String? = nil) throws(DeviceProofFault) -> DeviceProof {
        try verifier.verify(text, of: .init(method: "POST", path: "/api/v1/auth/refresh", token: token), now: Self.now)
    }

    private func fault(_ change: (inout DeviceSigner.Claims) -> Void) throws -> DeviceProofFault? {
        let proof = try device.proof(claims(change))
        do throws(DeviceProofFault) { _ = try verify(proof) } catch { return error }
        return nil
    }

    @Test func `the proof of RFC 9449 is taken`() throws {
        let text =
            "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFV"
            + "ZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19.eyJqdGkiOiItQndDM0V"
            + "TYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2VuIiwiaWF0IjoxNTYyMjYyNjE2fQ.2-GxA6T8"
            + "lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT3Lg"
        let verifier = DeviceProofVerifier(nonces: nonces, urls: [ProofURL("https://server.example.com")!])
        let time = Date(timeIntervalSince1970: 1_562_262_616)
        let proof = try verifier.verify(text, of: .init(method: "POST", path: "/token", token: nil), now: time)
        #expect(Base64URL.encode(proof.key.thumbprint) == "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")
    }

    @Test func `a proof names its key, and each proof has an id of its own`() throws {
        let (first, second) = (try verify(device.proof(claims())), try verify(device.proof(claims())))
        #expect(first.key == DeviceKey(thumbprint: try device.key.publicKey.thumbprint, storage: .software))
        #expect(first.key == second.key)
        #expect(first.id != second.id)
        let other = try DeviceSigner()
        let same = try verify(other.proof(claims { $0.id = "1" })).id
        #expect(try verify(device.proof(claims { $0.id = "1" })).id != same, "the id is one of its key")
        #expect(try verify(device.proof(claims { $0.storage = "hardware" })).key.storage == .hardware)
        #expect(try verify(device.proof(claims { $0.storage = "cloud" })).key.storage == .software)
    }

    @Test func `a member that is not that of the request is refused by its name`() throws {
        #expect(try fault { $0.type = "jwt" } == .type)
        for algorithm in ["none", "HS256", "RS256", "ES384", "es256", ""] { #expect(try fault { $0.algorithm = algorithm } == .algorithm) }
        #expect(try fault { $0.header = ["crit": #"["b64"]"#] } == .algorithm)
        for id in [nil, "", String(repeating: "x", count: 129)] { #expect(try fault { $0.id = id } == .id) }
        for method in ["GET", "post", ""] { #expect(try fault { $0.method = method } == .method) }
        for url in ["https://evil.example/api/v1/auth/refresh", "https://api.example.org/api/v1/auth/logout", "", "/api/v1/auth/refresh"] {
            #expect(try fault { $0.url = url } == .url)
        }
        #expect(try fault { $0.token = "token" } == .token)
        #expect(throws: DeviceProofFault.token) { try verify(device.proof(claims()), token: "token") }
        #expect(throws: DeviceProofFault.token) { try verify(device.proof(claims { $0.token = "other" }), token: "token") }
        _ = try verify(device.proof(claims { $0.token = "token" }), token: "token")
    }

    @Test func `a signature of another key is refused`() throws {
        let other = try DeviceSigner()
        #expect(throws: DeviceProofFault.signature) { try verify(device.proof(claims(), signedBy: other.key)) }
    }

    @Test func `what is no proof at all is refused`() throws {
        let parts = try device.proof(claims()).split(separator: ".").map(String.init)
        for text in [
            "", ".", "..", "a.b.c", parts[0] + "." + parts[1], "\(parts[0]).\(parts[1]).", parts.joined(separator: ".") + ".x",
            parts.joined(separator: ".") + "=", String(repeating: "x", count: 5_000),
        ] {
            #expect(throws: DeviceProofFault.malformed) { try verify(text) }
        }
    }

    @Test(arguments: [
        #"{"kty":"RSA","n":"AQAB","e":"AQAB"}"#, #"{"kty":"EC","crv":"P-384","x":"AA","y":"AA"}"#,
        #"{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}"#, #"{"kty":"EC","crv":"P-256"}"#, "{}", "null", #""key""#,
    ])
    func `a key of another kind is refused`(_ jwk: String) throws {
        let header = Array(#"{"typ":"dpop+jwt","alg":"ES256","jwk":\#(jwk)}"#.utf8)
        let jws = try #require(JWS(try device.proof(claims())))
        let text = try JWS.compact(header: header, payload: jws.payload) { bytes throws(CryptoError) in try device.key.signES256(bytes) }
        #expect(throws: DeviceProofFault.key) { try verify(text) }
    }

    @Test func `a private key in a proof is refused`() throws {
        let jws = try #require(JWS(try device.proof(claims())))
        let header = String(decoding: jws.header, as: UTF8.self).replacing(#""kty""#, with: #""d":"AA","kty""#)
        let text = try JWS.compact(header: Array(header.utf8), payload: jws.payload) { bytes throws(CryptoError) in
            try device.key.signES256(bytes)
        }
        #expect(throws: DeviceProofFault.key) { try verify(text) }
    }

    @Test func `without a nonce the clock of a phone may be wrong by a minute, and the use is remembered until no proof counts`() throws {
        for seconds in [-60.0, 0, 60] {
            let proof = try verify(device.proof(claims { $0.issuedAt = Self.now + seconds }))
            #expect(proof.forgottenAt == Self.now + seconds + 780)
        }
        for seconds in [-61.0, 61, 86_400, -86_400] { #expect(try fault { $0.issuedAt = Self.now + seconds } == .time) }
    }

    @Test func `with a nonce the clock of a phone may show any time`() throws {
        let nonce = nonces.issue(at: Self.now - 100)
        let proof = try verify(
            device.proof(
                claims {
                    $0.nonce = nonce
                    $0.issuedAt = Self.now + 1_000_000
                }))
        #expect(proof.forgottenAt == Self.now - 100 + 300 + 720)
    }

    @Test func `a nonce of another installation, an old one and one of the future are refused`() throws {
        let foreign = DeviceNonces(sessionKey: [UInt8](repeating: 2, count: 32)).issue(at: Self.now)
        for nonce in [foreign, nonces.issue(at: Self.now - 301), nonces.issue(at: Self.now + 61), "", "x", foreign + "A"] {
            #expect(try fault { $0.nonce = nonce } == .nonce)
        }
        for time in [Self.now - 300, Self.now + 60] { _ = try verify(device.proof(claims { $0.nonce = nonces.issue(at: time) })) }
    }

    @Test(arguments: [
        "https://api.example.org/api/v1/auth/refresh", "HTTPS://API.example.org:443/api/v1/auth/refresh",
        "https://api.example.org/api/v1/auth/refresh?x=1", "https://api.example.org/api/v1/auth/refresh#x",
        "https://eu.example.org/face/api/v1/auth/refresh",
    ])
    func `URLs that are the same are taken`(_ url: String) throws {
        #expect(try fault { $0.url = url } == nil)
    }

    @Test(arguments: [
        "http://api.example.org/api/v1/auth/refresh", "https://api.example.org:8443/api/v1/auth/refresh",
        "https://api.example.org/API/v1/auth/refresh", "https://api.example.org/api/v1/auth/refresh/",
        "https://user@api.example.org/api/v1/auth/refresh", "https://api.example.org@evil.example/api/v1/auth/refresh",
        "https://eu.example.org/api/v1/auth/refresh", "https:///api/v1/auth/refresh", "https://api.example.org:0/api/v1/auth/refresh",
    ])
    func `URLs that are others are refused`(_ url: String) throws {
        #expect(try fault { $0.url = url } == .url)
    }
}
