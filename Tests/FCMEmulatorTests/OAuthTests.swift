import Dispatch
import Foundation
import HTTPClient
import HeliographCrypto
import JSON
import Synchronization
import TestSupport
import Testing

@testable import FCMEmulator

/// The claims of a token request, which tests can make invalid.
struct Assertion {
    var algorithm = "RS256"
    var keyID: String?
    var issuer: String?
    var audience: String?
    var scope: JSONValue = "https://www.googleapis.com/auth/firebase.messaging"
    var issuedAt: TimeInterval = 0
    var lifetime: TimeInterval = 3600
    var key: RSAPrivateKey?

    /// Returns the signed assertion for the account of the key file.
    func token(keyFile: String) throws -> String {
        let file = try JSONValue(parsing: Array(try Data(contentsOf: URL(filePath: keyFile))))
        func text(_ name: String) throws -> JSONValue { .string(try #require(file[name]?.string)) }
        let now = Int(Date().timeIntervalSince1970 + issuedAt)
        let header: JSONValue = [
            "alg": .string(algorithm), "typ": "JWT", "kid": try keyID.map(JSONValue.string) ?? text("private_key_id"),
        ]
        let claims: JSONValue = [
            "iss": try issuer.map(JSONValue.string) ?? text("client_email"), "scope": scope,
            "aud": try audience.map(JSONValue.string) ?? text("token_uri"), "iat": .integer(now),
            "exp": .integer(now + Int(lifetime)),
        ]
        let signed = [header, claims].map { Base64URL.encode(Array($0.text.utf8)) }.joined(separator: ".")
        let key = try key ?? RSAPrivateKey(pem: try #require(file["private_key"]?.string))
        return signed + "." + Base64URL.encode(try key.signRS256(Array(signed.utf8)))
    }

    func form(keyFile: String) throws -> String {
        "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=" + (try token(keyFile: keyFile))
    }
}

@Suite struct OAuthTests {
    private var fixture: Fixture { .current }

    @Test(.emulator) func `a signed assertion is exchanged for a token that can send`() async throws {
        let file = fixture.emulator.configuration.serviceAccountFile
        let answer = try await fixture.requestToken(Assertion().form(keyFile: file))
        #expect(answer.status == 200)
        #expect(answer.json["token_type"] == "Bearer")
        #expect(answer.json["expires_in"] == 3599)
        let token = try #require(answer.json["access_token"]?.string)
        #expect(try await fixture.send(#"{"message":{"topic":"t"}}"#, authorization: "Bearer " + token).status == 200)
        #expect(fixture.emulator.statistics.accepted == 1)
    }

    @Test(.emulator) func `Google's own audience is accepted`() async throws {
        let form = try Assertion(audience: "https://oauth2.googleapis.com/token")
            .form(keyFile: fixture.emulator.configuration.serviceAccountFile)
        #expect(try await fixture.requestToken(form).status == 200)
    }

    @Test(.emulator) func `an assertion with a fault is refused with Google's error`() async throws {
        let times =
            "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. "
            + "Check your iat and exp values in the JWT claim."
        let table: [(Assertion, error: String, description: String)] = [
            (Assertion(issuer: "x@y"), "invalid_grant", "Invalid grant: account not found"),
            (Assertion(algorithm: "none"), "invalid_grant", "Invalid JWT Signature."),
            (Assertion(keyID: "0"), "invalid_grant", "Invalid JWT Signature."),
            (Assertion(key: try RSAPrivateKey.generate()), "invalid_grant", "Invalid JWT Signature."),
            (Assertion(lifetime: 3601), "invalid_grant", times),
            (Assertion(lifetime: -1), "invalid_grant", times),
            (Assertion(issuedAt: 400), "invalid_grant", times),
            (Assertion(issuedAt: -4000), "invalid_grant", times),
            (Assertion(scope: "email"), "invalid_scope", "Invalid OAuth scope or ID token audience provided."),
            (Assertion(scope: nil), "invalid_scope", "Invalid OAuth scope or ID token audience provided."),
        ]
        let file = fixture.emulator.configuration.serviceAccountFile
        for row in table {
            let answer = try await fixture.requestToken(row.0.form(keyFile: file))
            #expect(answer.status == 400)
            #expect(answer.json == ["error": .string(row.error), "error_description": .string(row.description)])
        }
        let wrong = try await fixture.requestToken(Assertion(audience: "https://example.com").form(keyFile: file))
        #expect(wrong.json["error_description"]?.string?.hasPrefix("Invalid JWT: Failed audience check.") == true)
        #expect(fixture.emulator.statistics.accessTokensIssued == 1, "only the fixture's own")
    }

    @Test(
        .emulator,
        arguments: [
            ("", "invalid_request"), ("grant_type=", "invalid_request"), ("grant_type=password", "unsupported_grant_type"),
            ("grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer", "invalid_request"),
            ("grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&assertion=a.b", "invalid_grant"),
            ("grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&assertion=e30.e30.%25%25", "invalid_grant"),
            ("grant_type=%zz", "invalid_request"),
        ])
    func `a malformed request is refused`(_ form: String, _ error: String) async throws {
        let answer = try await fixture.requestToken(form)
        #expect(answer.status == 400 && answer.json["error"]?.string == error)
    }

    @Test(.emulator) func `sending needs a valid access token`() async throws {
        let body = #"{"message":{"topic":"t"}}"#
        for header in [nil, "Bearer nonsense", "Basic YTpi", "Bearer"] {
            let answer = try await fixture.send(body, authorization: header)
            #expect(answer.status == 401)
            #expect(answer.json["error"]?["status"] == "UNAUTHENTICATED")
            #expect(answer.errorCode == nil, "a client must tell this from APNs' refusal, which has an FcmError")
            #expect(answer.response.header("www-authenticate") != nil)
        }
        fixture.emulator.revokeAccessTokens()
        #expect(try await fixture.send(body).status == 401)
    }

    @Test(.emulator { $0.accessTokenLifetimeSeconds = 0 }) func `an access token expires`() async throws {
        let answer = try await fixture.send(#"{"message":{"topic":"t"}}"#)
        #expect(answer.json["error"]?["details"]?[0]?["reason"] == "ACCESS_TOKEN_EXPIRED")
    }

    @Test(.emulator) func `an account cannot send for another project`() async throws {
        let answer = try await fixture.send(#"{"message":{"topic":"t"}}"#, project: "other")
        #expect(answer.status == 403 && answer.errorCode == nil)
        #expect(answer.json["error"]?["status"] == "PERMISSION_DENIED")
    }

    @Test func `key files of the first start are kept by the next, and other users cannot read them`() async throws {
        let directory = try TemporaryDirectory()
        let configuration = FCMEmulatorConfiguration(directory: directory.path)
        var first: [Data] = []
        for round in 0..<2 {
            let emulator = FCMEmulator(configuration: configuration)
            try await emulator.start()
            await emulator.stop()
            let files = [configuration.serviceAccountFile, configuration.certificateFile, configuration.privateKeyFile]
            let contents = try files.map { try Data(contentsOf: URL(filePath: $0)) }
            if round == 0 { first = contents } else { #expect(contents == first) }
            for file in files {
                let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
                #expect(mode == 0o600)
            }
        }
    }

    @Test func `a key file that several write at the same time is whole, and nothing else is left`() throws {
        let directory = try TemporaryDirectory()
        let file = directory.path + "/key.pem"
        let failures = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: 64) { number in
            let text = String(repeating: "\(number % 10)", count: 10_000)
            do { try KeyFiles.write(text, to: file) } catch { failures.add(1, ordering: .relaxed) }
        }
        #expect(failures.load(ordering: .relaxed) == 0)
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(text.count == 10_000 && Set(text).count == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["key.pem"])
    }

    @Test func `an invalid key file prevents the start`() async throws {
        let directory = try TemporaryDirectory()
        let configuration = FCMEmulatorConfiguration(directory: directory.path)
        try Data("{}".utf8).write(to: URL(filePath: configuration.serviceAccountFile))
        let emulator = FCMEmulator(configuration: configuration)
        await #expect { try await emulator.start() } throws: { ($0 as? EmulatorError)?.code == .serviceAccount }
    }
}
