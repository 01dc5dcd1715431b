import Foundation
import HTTPClient
import HeliographCrypto
import Logging
import Testing

@testable import FCM

@Suite struct ServiceAccountKeyTests {
    static let pem = Result { try RSAPrivateKey.generate().pem() }

    static func file(_ change: (inout [String: String]) -> Void = { _ in }) throws -> [UInt8] {
        var members = [
            "type": "service_account", "project_id": "p", "private_key_id": "kid", "private_key": try pem.get(),
            "client_email": "a@p.iam.gserviceaccount.com", "token_uri": "https://oauth2.googleapis.com/token",
        ]
        change(&members)
        return [UInt8](try JSONEncoder().encode(members))
    }

    @Test func `a key file is parsed`() throws {
        #expect(try ServiceAccountKey(json: Self.file()).projectID == "p")
    }

    @Test(arguments: ["project_id", "private_key_id", "private_key", "client_email"])
    func `the error names a missing member`(name: String) throws {
        let file = try Self.file { $0[name] = nil }
        let error = #expect(throws: FCMError.self) { try ServiceAccountKey(json: file) }
        #expect(error?.code == .configuration)
        #expect(error?.message.contains(name) == true)
    }

    @Test func `an invalid key file is refused without quoting it`() throws {
        for text in ["", "secret", #"{"type":"authorized_user","secret":"secret"}"#] {
            let error = #expect(throws: FCMError.self) { try ServiceAccountKey(json: Array(text.utf8)) }
            #expect(error?.description.contains("secret") == false)
        }
        let file = try Self.file { $0["private_key"] = "-----BEGIN PRIVATE KEY-----\nsecret" }
        let error = #expect(throws: FCMError.self) { try ServiceAccountKey(json: file) }
        #expect(error?.description.contains("secret") == false)
    }

    @Test func `printing a key shows no secret`() throws {
        let key = try ServiceAccountKey(json: Self.file())
        #expect("\(key)" == "ServiceAccountKey(project: p)")
    }

    @Test func `the file's token_uri is used only when it is Google's`() throws {
        let odd = try ServiceAccountKey(json: Self.file { $0["token_uri"] = "https://evil.example/token" })
        #expect(try FCMEndpoints(tokenURL: nil, key: odd).token == FCMEndpoints.googleTokenURL)
        let old = try ServiceAccountKey(json: Self.file { $0["token_uri"] = "https://www.googleapis.com/oauth2/v4/token" })
        let endpoints = try FCMEndpoints(tokenURL: nil, key: old)
        #expect(endpoints.token == "https://www.googleapis.com/oauth2/v4/token")
        #expect(endpoints.audience == endpoints.token)
    }

    @Test(arguments: [
        ("https://fcm.example", true), ("http://localhost:9", true), ("http://127.0.0.1:9/x", true),
        ("http://[::1]:9", true), ("http://10.0.0.1", false), ("http://localhost.evil.example", false),
        ("http://localhost@evil.example", false), ("http://127.0.0.1.evil.example", false), ("ftp://localhost", false),
        ("localhost:9", false),
    ])
    func `plain HTTP is allowed for this machine only`(url: String, isAllowed: Bool) throws {
        let key = try ServiceAccountKey(json: Self.file())
        let endpoints = try? FCMEndpoints(tokenURL: url, key: key)
        #expect((endpoints != nil) == isAllowed)
        #expect(((try? FCMEndpoints.send(baseURL: url, projectID: "p")) != nil) == isAllowed)
    }

    @Test func `the assertion has the claims that Google requires and is signed`() throws {
        let key = try ServiceAccountKey(json: Self.file())
        let request = ServiceAccountTokenRequest(
            key: key, url: FCMEndpoints.googleTokenURL, audience: FCMEndpoints.googleTokenURL,
            http: HTTPClient(logger: Logger(label: "test")))
        let parts = try request.assertion(at: 1_761_559_200).split(separator: ".").map(String.init)
        let header = try JSONDecoder().decode([String: String].self, from: Data(try #require(Base64URL.decode(parts[0]))))
        #expect(header == ["alg": "RS256", "typ": "JWT", "kid": "kid"])
        let claims = String(decoding: try #require(Base64URL.decode(parts[1])), as: UTF8.self)
        #expect(
            claims == #"{"aud":"https://oauth2.googleapis.com/token","exp":1761562800,"iat":1761559200,"#
                + #""iss":"a@p.iam.gserviceaccount.com","scope":"https://www.googleapis.com/auth/firebase.messaging"}"#)
        let publicKey = try RSAPrivateKey(pem: Self.pem.get()).publicKey
        let signature = try #require(Base64URL.decode(parts[2]))
        #expect(publicKey.verifyRS256(signature: signature, message: Array("\(parts[0]).\(parts[1])".utf8)))
    }
}
