import Foundation
import HTTPClient
import HeliographCrypto
import JSON
import Logging
import TestSupport
import Testing

extension S3Server {
    /// Encrypts texts with a new key of AWS KMS, as an operator does, and returns the values of their settings.
    func wrap(_ texts: [String: String]) async throws -> [String: String] {
        var configuration = HTTPClientConfiguration()
        configuration.allowedSchemes = ["http"]
        let http = HTTPClient(configuration: configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        func call(_ action: String, _ body: JSONValue) async throws -> JSONValue {
            let bytes = JSONWriter.bytes { $0.value(body) }
            var request = HTTPClientRequest(
                method: "POST", url: url + "/",
                headers: [
                    ("Content-Type", "application/x-amz-json-1.1"), ("X-Amz-Target", "TrentService.\(action)"),
                    ("x-amz-content-sha256", Hex.encode(SHA256.hash(bytes))),
                ], body: bytes, timeout: .seconds(60))
            request.awsSignature = AWSSignature(
                region: Self.region, service: "kms", accessKeyID: accessKeyID, secretAccessKey: secretAccessKey)
            let response = try await http.execute(request)
            #expect(response.status == 200, "\(String(decoding: response.body, as: UTF8.self))")
            return try JSONValue(parsing: response.body)
        }
        let key = try #require(try await call("CreateKey", [:])["KeyMetadata"]?["KeyId"]?.string)
        var wrapped: [String: String] = [:]
        for (setting, text) in texts {
            let answer = try await call(
                "Encrypt",
                [
                    "KeyId": .string(key), "Plaintext": .string(Base64.encode(Array(text.utf8))),
                    "EncryptionContext": ["heliograph": .string(setting)],
                ])
            wrapped[setting] = "aws-kms:" + (try #require(answer["CiphertextBlob"]?.string))
        }
        await http.shutdown()
        return wrapped
    }
}
