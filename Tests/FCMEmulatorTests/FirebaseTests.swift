import FCMEmulator
import Foundation
import HTTPClient
import HeliographCrypto
import JSON
import TestSupport
import Testing

/// Tests the ID tokens of the emulator, and the keys that they are signed with.
@Suite struct FirebaseTests {
    private static let keysPath = "/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com"
    private var fixture: Fixture { .current }

    private func issue(_ members: String) async throws -> String {
        let answer = try await fixture.call("POST", "/control/firebase/tokens", #"{"subject":"ada"\#(members)}"#)
        return try #require(answer.json["id_token"]?.string)
    }

    /// The published keys by their ids.
    private func keys() async throws -> [String: RSAPublicKey] {
        let listed = try await fixture.call("GET", Self.keysPath).json["keys"]?.elements ?? []
        return try Dictionary(
            uniqueKeysWithValues: listed.map { json in
                func number(_ name: String) throws -> [UInt8] { try #require(json[name]?.string.flatMap(Base64URL.decode)) }
                let key = try RSAPublicKey(modulus: try number("n"), exponent: try number("e"))
                return (try #require(json["kid"]?.string), key)
            })
    }

    /// The parts of a token, decoded.
    private func parts(_ token: String) throws -> (header: JSONValue, claims: JSONValue) {
        let parts = try token.split(separator: ".", omittingEmptySubsequences: false).prefix(2).map {
            try JSONValue(parsing: try #require(Base64URL.decode(String($0))))
        }
        return (parts[0], parts[1])
    }

    /// Whether a token is signed by the published key that it names.
    private func isSigned(_ token: String) async throws -> Bool {
        let signed = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard let id = try parts(token).header["kid"]?.string, let key = try await keys()[id] else { return false }
        let signature = try #require(Base64URL.decode(signed[2]))
        return key.verifyRS256(signature: signature, message: Array("\(signed[0]).\(signed[1])".utf8))
    }

    @Test(.emulator) func `a token has Firebase's claims, and is signed by a published key`() async throws {
        let token = try await issue(#","email":"ada@example.org","auth_time":1000,"expires_in":60"#)
        let (header, claims) = try parts(token)
        #expect(header["alg"] == "RS256" && header["typ"] == "JWT")
        #expect(claims["iss"] == "https://securetoken.google.com/heliograph-dev" && claims["aud"] == "heliograph-dev")
        #expect(claims["sub"] == "ada" && claims["user_id"] == "ada" && claims["auth_time"] == 1000)
        #expect(claims["email"] == "ada@example.org" && claims["firebase"]?["identities"]?["email"] == ["ada@example.org"])
        let issued = try #require(claims["iat"]?.integer)
        #expect(claims["exp"]?.integer == issued + 60)
        #expect(try await isSigned(token))
    }

    @Test(.emulator) func `the keys may be cached as Google's`() async throws {
        let answer = try await fixture.call("GET", Self.keysPath)
        #expect(answer.response.header("cache-control") == "public, max-age=19800, must-revalidate, no-transform")
        #expect(fixture.emulator.idTokenKeysURL == fixture.emulator.url + Self.keysPath)
    }

    @Test(.emulator) func `after a rotation the old key stays published for a time`() async throws {
        let old = try await issue("")
        let rotated = try await fixture.call("POST", "/control/firebase/rotate", #"{"published_seconds":60}"#)
        let new = try await issue("")
        #expect(try parts(new).header["kid"] == rotated.json["kid"] && parts(old).header["kid"] != rotated.json["kid"])
        #expect(try await isSigned(old))
        #expect(try await isSigned(new))
        fixture.emulator.advanceClock(seconds: 61)
        #expect(try await !isSigned(old))
        #expect(try await isSigned(new))
    }

    @Test(.emulator) func `each fault is what it says`() async throws {
        func claims(_ fault: IDTokenFault) async throws -> JSONValue { try parts(await issue(#","fault":"\#(fault.rawValue)""#)).claims }
        for fault in [IDTokenFault.wrongKey, .unknownKey, .unsigned, .hmac] {
            #expect(try await !isSigned(issue(#","fault":"\#(fault.rawValue)""#)))
        }
        let now = Int(Date().timeIntervalSince1970)
        #expect(try await (claims(.expired)["exp"]?.integer ?? now) < now)
        #expect(try await (claims(.skew)["iat"]?.integer ?? now) > now + 500)
        #expect(try await claims(.wrongAudience)["aud"] == "another-project")
        #expect(try await claims(.wrongIssuer)["iss"] == "https://accounts.google.com")
        #expect(try await claims(.noSubject)["sub"] == "")
    }

    @Test(.emulator, arguments: ["{}", "[", #"{"subject":""}"#, #"{"subject":"a","fault":"tired"}"#, #"{"subject":"a","expires_in":"1"}"#])
    func `an order that cannot be understood is refused`(body: String) async throws {
        #expect(try await fixture.call("POST", "/control/firebase/tokens", body).status == 400)
    }

    @Test(.emulator) func `the server of the keys fails as a rule says`() async throws {
        let faults: [(rule: String, status: Int)] = [
            (#"{"action":"html","status":503,"endpoint":"firebase_keys"}"#, 503),
            (#"{"action":"html","status":200,"endpoint":"firebase_keys"}"#, 200),
        ]
        for (rule, status) in faults {
            #expect(try await fixture.call("POST", "/control/faults", rule).status == 201)
            let answer = try await fixture.call("GET", Self.keysPath)
            #expect(answer.status == status && answer.json == .null)
        }
        #expect(fixture.emulator.statistics.keyFetches == 2)
        let rule = #"{"action":"drop","endpoint":"firebase_keys","count":0}"#
        #expect(try await fixture.call("POST", "/control/faults", rule).status == 201)
        await #expect(throws: HTTPClientError.self) { try await fixture.call("GET", Self.keysPath) }
        fixture.emulator.clearFaults()
        #expect(try await keys().count == 1)
    }
}
