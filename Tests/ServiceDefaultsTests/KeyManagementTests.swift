import Accounts
import Foundation
import HeliographCrypto
import Logging
import TestSupport
import Testing

@testable import ServiceDefaults

/// Keys that AWS KMS has wrapped, with moto, which checks the signature of each call.
@Suite struct KeyManagementTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// The environment of a service that unwraps its keys with `server`.
    private func environment(_ server: S3Server, _ keys: [String: String]) -> [String: String] {
        [
            "AWS_REGION": S3Server.region, "AWS_KMS_ENDPOINT": server.url, "AWS_ACCESS_KEY_ID": server.accessKeyID,
            "AWS_SECRET_ACCESS_KEY": server.secretAccessKey,
        ].merging(keys) { $1 }
    }

    @Test func `wrapped keys are opened, and others stay as they are`() async throws {
        let server = try await S3Server.shared()
        let plain = TestKeys.settings()
        let wrapped = try await server.wrap(plain.filter { ["FACE_KEYS", "LOOKUP_KEYS"].contains($0.key) }.mapValues { $0 + "\n" })
        let settings = try await Settings(environment: environment(server, plain.merging(wrapped) { $1 })).unwrappingKeys(
            logger: Self.logger)
        let before = Settings(environment: plain)
        #expect(try settings.lookupKeys().hashes(of: "x") == before.lookupKeys().hashes(of: "x"))
        #expect(try settings.sessionKey() == before.sessionKey())
        for purpose in KeyPurpose.sealing {
            let sealed = try before.sealer(purpose).seal([1], context: [])
            #expect(try settings.sealer(purpose).open(sealed, context: []) == [1])
        }
        var dumped = ""
        dump(settings, to: &dumped)
        #expect(!dumped.contains(try #require(plain["LOOKUP_KEYS"])))
    }

    @Test func `a value that was wrapped for another setting does not open`() async throws {
        let server = try await S3Server.shared()
        let ring = KeyRing.generateText()
        let wrapped = try #require(try await server.wrap(["FACE_KEYS": ring])["FACE_KEYS"])
        let settings = Settings(environment: environment(server, ["TOKEN_KEYS": wrapped]))
        let error = await #expect(throws: ConfigurationError.self) { try await settings.unwrappingKeys(logger: Self.logger) }
        #expect(error?.name == "TOKEN_KEYS" && error?.problem.contains("InvalidCiphertextException") == true)
        #expect(error?.description.contains(wrapped.dropFirst(8)) == false)
    }

    @Test func `a wrong secret of AWS ends the start`() async throws {
        let server = try await S3Server.shared()
        let wrapped = try await server.wrap(["FACE_KEYS": KeyRing.generateText()])
        let settings = Settings(environment: environment(server, wrapped).merging(["AWS_SECRET_ACCESS_KEY": "wrong"]) { $1 })
        let error = await #expect(throws: ConfigurationError.self) { try await settings.unwrappingKeys(logger: Self.logger) }
        #expect(error?.name == "FACE_KEYS" && error?.problem.contains("403") == true)
    }

    @Test(arguments: [
        ("AWS_REGION", ["FACE_KEYS": "aws-kms:AAAA"]), ("FACE_KEYS", ["FACE_KEYS": "aws-kms:"]), ("FACE_KEYS", ["FACE_KEYS": "aws-kms:?"]),
        (
            "AWS_KMS_ENDPOINT",
            ["FACE_KEYS": "aws-kms:AAAA", "AWS_REGION": "eu-central-1", "AWS_KMS_ENDPOINT": "http://kms.example.org"]
        ),
    ])
    func `a missing or wrong setting is named`(name: String, environment: [String: String]) async {
        let settings = Settings(environment: environment)
        let error = await #expect(throws: ConfigurationError.self) { try await settings.unwrappingKeys(logger: Self.logger) }
        #expect(error?.name == name)
    }

    @Test func `keys that are not wrapped need no key management`() async throws {
        let plain = TestKeys.settings()
        let settings = try await Settings(environment: plain).unwrappingKeys(logger: Self.logger)
        #expect(try settings.lookupKeys().hashes(of: "x") == Settings(environment: plain).lookupKeys().hashes(of: "x"))
    }
}
