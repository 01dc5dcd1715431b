import Foundation
import Testing

@testable import MobileClient

/// Holds a request that the client makes to that of a golden file.
enum GoldenRequestCheck {
    /// The headers that a request has in golden files where it has them.
    private static let headers = [
        "Authorization", "Content-Type", "If-None-Match", "Last-Event-ID", "Prefer", "X-Client-Trigger", "X-Request-ID",
    ]

    /// - Parameter makesKey: Whether the request has a key of its own in each run, which the API does not need.
    static func check<Answer>(_ request: APIRequest<Answer>, _ golden: GoldenFile, makesKey: Bool, _ location: SourceLocation) throws {
        let bearer: String? =
            switch request.bearer {
            case .none: nil
            case .account: GoldenFile.token
            case .accountIfSignedIn: golden.headers["Authorization"].map { _ in GoldenFile.token }
            case .token(let token): token
            }
        #expect(!makesKey || request.idempotencyKey != nil, sourceLocation: location)
        let key = makesKey ? nil : request.idempotencyKey
        let configuration = try ClientConfiguration(
            baseURL: try #require(URL(string: "https://api.example.org")), appVersion: "1", locale: "en", folder: GoldenFile.folder)
        let sent = try RequestBuilder(configuration: configuration).build(
            request, bearer: bearer, requestID: (key ?? GoldenFile.id("request")).wireText)
        #expect(sent.method == golden.method, sourceLocation: location)
        #expect(sent.url.absoluteString == "https://api.example.org" + golden.path, sourceLocation: location)
        for name in headers {
            // A boundary is another one in each form.
            let value = sent.headers[name].map { $0.hasPrefix("multipart/") ? "multipart/form-data; boundary=<boundary>" : $0 }
            #expect(value == golden.headers[name], "\(name)", sourceLocation: location)
        }
        #expect(try body(of: request) == golden.body.map(normalised), sourceLocation: location)
    }

    /// The body as golden files have it.
    private static func body<Answer>(of request: APIRequest<Answer>) throws -> NSObject? {
        switch request.body {
        case .none: nil
        case .json(let data): try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed) as? NSObject
        case .multipart(let file, let boundary): normalised(["multipart": try parts(of: file, boundary)] as NSObject)
        }
    }

    /// The parts of a form in an order of their own: that in which they are sent does not matter.
    private static func normalised(_ body: NSObject) -> NSObject {
        guard let members = body as? [String: Any], let parts = members["multipart"] as? [[String: String]] else { return body }
        return parts.map { "\($0["name"] ?? "") \($0["text"].map { "is \($0)" } ?? $0["file"] ?? "")" }.sorted() as NSObject
    }

    private static func parts(of file: URL, _ boundary: String) throws -> [[String: String]] {
        // One byte a character, so that pictures can be split.
        let text = String(String.UnicodeScalarView(try Data(contentsOf: file).map { Unicode.Scalar($0) }))
        let pieces = text.components(separatedBy: "--\(boundary)\r\n").dropFirst()
        return try pieces.map { piece in
            let halves = piece.components(separatedBy: "\r\n\r\n")
            let name = try #require(halves[0].firstMatch(of: /name="([^"]*)"/)).output.1
            let content = halves.dropFirst().joined(separator: "\r\n\r\n").components(separatedBy: "\r\n--\(boundary)--\r\n")[0]
            let whole = content.hasSuffix("\r\n") ? String(content.dropLast()) : content
            guard halves[0].contains("filename=") else { return ["name": String(name), "text": whole] }
            let bytes = Data(whole.unicodeScalars.map { UInt8($0.value) })
            let known = ["<svg>", "<jpeg:large>"] + (1...20).map { "<jpeg:\($0)>" }
            let picture = known.first { GoldenFile.picture($0) == bytes }
            return ["name": String(name), "file": try #require(picture, "the form has another picture")]
        }
    }
}
