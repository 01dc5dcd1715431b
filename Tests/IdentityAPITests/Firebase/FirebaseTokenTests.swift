import Foundation
import HTTPClient
import HeliographCrypto
import JSON
import TestSupport
import Testing

@testable import IdentityAPI

@Suite struct FirebaseTokenTests {
    private typealias Golden = GoldenIDToken

    private func refusal(_ text: String, at seconds: Int = GoldenIDToken.issuedAt) async throws -> FirebaseTokenFault? {
        let verifier = try Golden.verifier()
        do throws(FirebaseTokenFault) {
            _ = try await verifier.verify(text, now: Golden.time(seconds))
            return nil
        } catch { return error }
    }

    @Test func `the golden token is verified, and its claims are read`() async throws {
        let claims = try await Golden.verifier().verify(Golden.text, now: Golden.time(Golden.issuedAt))
        #expect(claims.subject == "ada-uid" && claims.keyID == Golden.keyID)
        #expect(claims.signedInAt == Golden.time(Golden.signedInAt) && claims.expiresAt == Golden.time(Golden.expiresAt))
    }

    @Test func `a token is valid until the second of its expiry, and from a minute before it was issued`() async throws {
        #expect(try await refusal(Golden.text, at: Golden.expiresAt - 1) == nil)
        #expect(try await refusal(Golden.text, at: Golden.expiresAt) == .expired)
        #expect(try await refusal(Golden.text, at: Golden.issuedAt - FirebaseClaims.maxClockSkew) == nil)
        #expect(try await refusal(Golden.text, at: Golden.issuedAt - FirebaseClaims.maxClockSkew - 1) == .future)
    }

    @Test func `a token of another project is refused`() async throws {
        var verifier = try Golden.verifier()
        verifier = FirebaseTokenVerifier(project: FirebaseProject(id: "another-project"), keys: verifier.keys)
        let fault = await #expect(throws: FirebaseTokenFault.self) {
            _ = try await verifier.verify(Golden.text, now: Golden.time(Golden.issuedAt))
        }
        #expect(fault == .issuer)
    }

    /// Makes a token whose signature is worthless; the checks of its claims come first.
    private func token(
        header: String = #"{"alg":"RS256","kid":"rfc7515-a2"}"#, _ changes: (name: String, value: JSONValue?)...
    ) -> String {
        var claims: JSONValue = [
            "iss": .string(Golden.project.issuer), "aud": .string(Golden.project.id), "sub": "ada-uid",
            "iat": .integer(Golden.issuedAt), "auth_time": .integer(Golden.signedInAt), "exp": .integer(Golden.expiresAt),
        ]
        for (name, value) in changes { claims[name] = value }
        return token(header: header, payload: claims.text)
    }

    private func token(header: String, payload: String, signature: [UInt8] = [UInt8](repeating: 7, count: 256)) -> String {
        [Array(header.utf8), Array(payload.utf8), signature].map(Base64URL.encode).joined(separator: ".")
    }

    @Test func `each claim is checked`() async throws {
        let later = JSONValue.integer(Golden.issuedAt + 61)
        let cases: [(text: String, fault: FirebaseTokenFault)] = [
            (token(), .signature),
            (token(("iss", "https://accounts.google.com")), .issuer), (token(("iss", nil)), .issuer),
            (token(("iss", "https://session.firebase.google.com/heliograph-dev")), .issuer),
            (token(("aud", "another")), .audience), (token(("aud", ["heliograph-dev"])), .audience), (token(("aud", nil)), .audience),
            (token(("exp", .integer(Golden.issuedAt))), .expired), (token(("exp", nil)), .malformed),
            (token(("exp", "9999999999")), .malformed),
            (token(("iat", later)), .future), (token(("iat", nil)), .malformed),
            (token(("auth_time", later)), .future), (token(("auth_time", nil)), .malformed),
            (token(("sub", "")), .subject), (token(("sub", nil)), .subject), (token(("sub", 7)), .subject),
            (token(("sub", .string(String(repeating: "a", count: 129)))), .subject),
            (token(("sub", .string(String(repeating: "ä", count: 128)))), .signature),
        ]
        for (text, fault) in cases { #expect(try await refusal(text) == fault) }
    }

    @Test func `only RS256 by a key that is known is accepted`() async throws {
        let cases: [(header: String, fault: FirebaseTokenFault)] = [
            (#"{"alg":"none","kid":"rfc7515-a2"}"#, .algorithm), (#"{"alg":"HS256","kid":"rfc7515-a2"}"#, .algorithm),
            (#"{"alg":"RS512","kid":"rfc7515-a2"}"#, .algorithm), (#"{"kid":"rfc7515-a2"}"#, .algorithm),
            (#"{"alg":"RS256","kid":"rfc7515-a2","crit":["exp"]}"#, .algorithm),
            (#"{"alg":"RS256"}"#, .malformed), (#"{"alg":"RS256","kid":""}"#, .malformed),
            (#"{"alg":"RS256","kid":"unknown"}"#, .unknownKey),
            (#"{"alg":"RS256","kid":"rfc7515-a2","jwk":{"kty":"RSA"},"jku":"https://example.org"}"#, .signature),
        ]
        for (header, fault) in cases { #expect(try await refusal(token(header: header)) == fault) }
    }

    @Test func `what is not a token in compact form is refused`() async throws {
        let parts = Golden.text.split(separator: ".").map(String.init)
        let (header, claims, signature) = (parts[0], parts[1], parts[2])
        let cases = [
            "", "..", "a.b.c", "\(header).\(claims)", "\(header).\(claims).", "\(Golden.text).", ".\(Golden.text)", "\(Golden.text)=",
            "\(header)=.\(claims).\(signature)", "\(header).\(claims).\(signature)\n", " \(Golden.text)",
            token(header: #"{"alg":"RS256","kid":"a","kid":"b"}"#, payload: "{}"), token(header: "[]", payload: "{}"),
            token(header: "7", payload: "{}"), token(header: #"{"alg":"RS256"}"#, payload: "nonsense"),
            token(header: "{}", payload: #"{"a":\#(String(repeating: "[", count: 200))\#(String(repeating: "]", count: 200))}"#),
            token(header: "{}", payload: #"{"a":"\#(String(repeating: "a", count: 4_000))"}"#),
        ]
        for text in cases { #expect(UnverifiedToken(text) == nil, "\(text.prefix(40))") }
    }

    /// Every text but the token itself is refused: base64url has one spelling here, and all bytes of the two first parts are signed.
    @Test func `no mutation of a token is accepted`() async throws {
        let verifier = try Golden.verifier()
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ ".utf8)
        let golden = Array(Golden.text.utf8)
        var random = SeededGenerator(seed: 17)
        for round in 0..<3_000 {
            var bytes = golden
            for _ in 0...Int.random(in: 0...2, using: &random) {
                let position = Int.random(in: 0..<bytes.count, using: &random)
                let symbol = alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
                switch Int.random(in: 0...4, using: &random) {
                case 0: bytes[position] = symbol
                case 1: bytes.insert(symbol, at: position)
                case 2: bytes.remove(at: position)
                case 3: bytes.swapAt(position, Int.random(in: 0..<bytes.count, using: &random))
                default: bytes.removeLast(Int.random(in: 1...4, using: &random))
                }
            }
            guard bytes != golden else { continue }
            await #expect(throws: FirebaseTokenFault.self, "round \(round)") {
                _ = try await verifier.verify(String(decoding: bytes, as: UTF8.self), now: Golden.time(Golden.issuedAt))
            }
        }
    }

    @Test func `project ids are distinguished from other texts`() {
        for id in ["heliograph-dev", "example.com:api-project", "a123"] { #expect(FirebaseProject.isID(id)) }
        for id in ["", "abc", "Project", "a/b/c/d", "a b c d", String(repeating: "a", count: 64)] { #expect(!FirebaseProject.isID(id)) }
    }

    @Test func `keys are fresh for their max-age, less the time in a cache`() {
        let cases: [(control: String?, age: String?, seconds: Int)] = [
            ("public, max-age=19800, must-revalidate, no-transform", nil, 19_800), ("max-age=100", "40", 60), ("max-age=100", "400", 0),
            ("Max-Age = \"60\"", "nonsense", 60), ("no-cache", nil, 0), (nil, nil, 0), ("max-age=99999999999", nil, 0),
        ]
        for (control, age, seconds) in cases {
            let headers = [control.map { ("cache-control", $0) }, age.map { ("age", $0) }].compactMap(\.self)
            #expect(HTTPClientResponse(status: 200, headers: headers).freshLifetime == .seconds(seconds))
        }
    }

    @Test func `verified tokens are found until they expire, and the table is bounded`() {
        let tokens = VerifiedTokens(generationSize: 2)
        func token(_ number: UInt8) -> VerifiedToken {
            VerifiedToken(keyID: "k", subjectLookups: [[number]], signedInAt: Golden.time(0), expiresAt: Golden.time(1_000))
        }
        for number in UInt8(1)...3 { tokens.add(token(number), [number]) }
        #expect(tokens.find([1], now: Golden.time(999)) == token(1))
        #expect(tokens.find([1], now: Golden.time(1_000)) == nil)
        for number in UInt8(4)...40 { tokens.add(token(number), [number]) }
        #expect(tokens.count <= 4)
        #expect(tokens.find([2], now: Golden.time(0)) == nil && tokens.find([40], now: Golden.time(0)) == token(40))
    }
}
