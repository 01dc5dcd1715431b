import Foundation
import HTTPClient
import TestSupport

/// Reads the bucket of a server that does not check signatures, by its own requests: it shares no code with the store under test.
struct BucketInspector: Sendable {
    /// An object, or a former one that the server keeps.
    struct Version: Sendable, Hashable {
        let key: String
        let id: String
    }

    let server: S3Server
    let http: HTTPClient

    /// Returns all versions of all objects; the marks of deletions have no content.
    func versions() async throws -> [Version] {
        let list = try await send("GET", "?versions")
        guard list.contains("<IsTruncated>false</IsTruncated>") else { throw DeadlineExceeded(description: "not the whole list: \(list)") }
        return list.matches(of: #/<Version>(.+?)<\/Version>/#.dotMatchesNewlines()).compactMap { match in
            guard let key = Self.text(of: "Key", in: match.1), let id = Self.text(of: "VersionId", in: match.1) else { return nil }
            return Version(key: key, id: id)
        }
    }

    /// Returns the keys of the uploads in parts that were neither completed nor aborted.
    func openUploads() async throws -> [String] {
        let list = try await send("GET", "?uploads")
        return list.matches(of: #/<Upload>(.+?)<\/Upload>/#.dotMatchesNewlines()).compactMap { Self.text(of: "Key", in: $0.1) }
    }

    /// Returns the content of a version.
    func bytes(of version: Version) async throws -> [UInt8] {
        try await response("GET", "/\(version.key)?versionId=\(version.id)").body
    }

    /// Begins an upload in parts, and returns its id.
    func beginUpload(_ key: String) async throws -> String {
        let answer = try await send("POST", "/\(key)?uploads")
        guard let id = Self.text(of: "UploadId", in: answer[...]) else { throw DeadlineExceeded(description: "no upload: \(answer)") }
        return id
    }

    /// Aborts an upload in parts.
    func abortUpload(_ key: String, id: String) async throws { _ = try await response("DELETE", "/\(key)?uploadId=\(id)") }

    private func send(_ method: String, _ path: String) async throws -> String {
        String(decoding: try await response(method, path).body, as: UTF8.self)
    }

    private func response(_ method: String, _ path: String) async throws -> HTTPClientResponse {
        var request = HTTPClientRequest(method: method, url: "\(server.url)/\(S3Server.bucket)\(path)", timeout: .seconds(100))
        // Selects the service of the server; the signature is not checked.
        let scope = "20260101/\(S3Server.region)/s3/aws4_request"
        request.headers = [("Authorization", "AWS4-HMAC-SHA256 Credential=x/\(scope), SignedHeaders=host, Signature=x")]
        let response = try await http.execute(request)
        guard (200...204).contains(response.status) else {
            throw DeadlineExceeded(
                description: "\(method) \(path) gives \(response.status): \(String(decoding: response.body, as: UTF8.self))")
        }
        return response
    }

    private static func text(of element: String, in xml: Substring) -> String? {
        guard let start = xml.range(of: "<\(element)>"), let end = xml[start.upperBound...].range(of: "</\(element)>") else { return nil }
        return String(xml[start.upperBound..<end.lowerBound])
    }
}
