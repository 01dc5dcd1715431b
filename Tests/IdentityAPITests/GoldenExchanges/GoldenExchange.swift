import Foundation
import HTTPClient
import JSON
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

/// The exchanges of requests and responses that apps and identity-api have in common: `Tests/Golden/http`, one a file.
///
/// Each request is one that MobileClient makes, and each response is what identity-api answers to it. What is different in each run is a
/// placeholder, in requests and in responses: `<uuid>`, `<time>`, `<token>`, `<number>`, and with a name as in `<uuid:job>` what is the
/// same in several places of an exchange. The tests of MobileClient put values of their own in their places.
struct GoldenExchanges: Sendable {
    static let folder = PackageRoot.path + "/Tests/Golden/http"

    let api: IdentityFixture
    /// The values of this run by their placeholders.
    var known: [String: String]

    init(_ api: IdentityFixture, _ known: [String: String] = [:]) {
        self.api = api
        self.known = known
    }

    /// Sends the request of a file, and expects the response of the file. With `UPDATE_GOLDEN=1` the file gets this response.
    ///
    /// - Parameter more: Further values of this run, for this exchange alone.
    @discardableResult
    func run(
        _ name: String, _ more: [String: String] = [:], sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> HTTPClientResponse {
        let path = "\(Self.folder)/\(name).json"
        var values = known.merging(more) { $1 }
        // Its own in each request, unless a test repeats one.
        values["<uuid:request>"] = values["<uuid:request>"] ?? UUID().wireString
        let file = try JSONValue(parsing: Array(try Data(contentsOf: URL(fileURLWithPath: path))))
        let request = try GoldenRequest(try #require(file["request"]), values)
        let response = try await api.send(
            request.method, request.path, headers: request.headers, body: request.body, sourceLocation: sourceLocation)
        let answer = GoldenAnswer(hiding: values).json(of: response)
        guard file["response"] != answer else { return response }
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil {
            let changed = JSONValue.members(("request", file["request"]), ("response", answer))
            try changed.prettyText.write(toFile: path, atomically: true, encoding: .utf8)
        } else {
            Issue.record(
                "\(name) is answered \(answer.text), and not \(file["response"]?.text ?? "-"); UPDATE_GOLDEN=1 writes it",
                sourceLocation: sourceLocation)
        }
        return response
    }
}

/// The request of a golden file with the values of this run.
struct GoldenRequest {
    let method: String
    let path: String
    let headers: [(name: String, value: String)]
    let body: [UInt8]

    init(_ json: JSONValue, _ values: [String: String]) throws {
        let filled = try Self.fill(json, values)
        method = try #require(filled.text("method"))
        path = try #require(filled.text("path"))
        let form = try filled.value("body.multipart")?.elements.map(Self.form)
        headers = (filled["headers"]?.members ?? []).map { header in
            (header.name, (header.value.string ?? "").replacing("<boundary>", with: form?.boundary ?? ""))
        }
        if let form {
            body = form.bytes
        } else if let value = filled["body"], value != .null {
            body = value.bytes
        } else {
            body = []
        }
    }

    /// Puts the values of this run into the places of placeholders; `<jpeg:N>` within a text is base64.
    private static func fill(_ json: JSONValue, _ values: [String: String]) throws -> JSONValue {
        switch json {
        case .array(let elements): return .array(try elements.map { try fill($0, values) })
        case .object(let members): return .object(try members.map { JSONValue.Member($0.name, try fill($0.value, values)) })
        case .string(let text):
            var text = text
            for (placeholder, value) in values { text = text.replacing(placeholder, with: value) }
            if text.contains(";base64,<jpeg:1>") {
                text = text.replacing("<jpeg:1>", with: Data(TestPhoto.jpeg(seed: 1)).base64EncodedString())
            }
            let left = text.firstMatch(of: /<(uuid|token|time|number)(:\w+)?>/)
            try #require(left == nil, "the test gives no value for \(left?.output.0 ?? "")")
            return .string(text)
        default: return json
        }
    }

    private static func form(_ parts: [JSONValue]) throws -> Form {
        var form = Form()
        for part in parts {
            let name = try #require(part.text("name"))
            if let text = part.text("text") {
                form.text(name, text)
            } else {
                form.parts.append((name, part.text("filename") ?? "\(name).jpg", try picture(try #require(part.text("file")))))
            }
        }
        return form
    }

    /// The bytes of a file: `<jpeg:N>`, each N another picture, `<jpeg:large>` or `<svg>`.
    private static func picture(_ placeholder: String) throws -> [UInt8] {
        switch placeholder {
        case "<svg>": return Array("<svg/>".utf8)
        case "<jpeg:large>": return TestPhoto.jpeg(scanBytes: 11 << 20)
        default:
            let match = try #require(placeholder.wholeMatch(of: /<jpeg:(\d+)>/))
            return TestPhoto.jpeg(seed: try #require(Int(match.output.1)))
        }
    }
}
