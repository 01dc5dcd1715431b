import JSON
import Testing

@testable import IdentityAPI

@Suite struct DocumentChangesTests {
    private typealias Change = (place: String, value: JSONValue?)

    /// Some paths of the document, with its schemas where they are used, so that a place of them can be named. Comparisons of the whole
    /// document would keep the threads of other tests for seconds.
    private static let document = {
        let whole = OpenAPIDocument.json
        var document = whole
        let paths = ["/v1/auth/register", "/v1/consent", "/v1/users/me"]
        document["paths"] = .object(paths.map { JSONValue.Member($0, whole["paths"]?[$0] ?? .null) })
        return document.inlined(in: whole)
    }()
    private static let register = "paths /v1/auth/register post"
    private static let email = "\(body) properties email"
    private static let body = "\(register) requestBody content application/json schema"
    private static let answer = "\(register) responses 202 content application/json schema properties data"

    private static let breaking: [Change] = [
        ("paths /v1/consent", nil), ("paths /v1/users/me put", nil), ("paths /v1/consent get operationId", "other"),
        ("paths /v1/consent get responses 200", nil), ("paths /v1/consent get security", [["accessToken": []]]),
        ("\(register) requestBody x-max-bytes", 1), ("\(register) responses 202 headers X-Request-ID", nil), (email, nil),
        ("\(body) required", ["email", "display_name"]), ("\(email) maxLength", 10), ("\(email) type", "integer"),
        ("\(email) enum", ["ada@example.org"]), ("\(answer) properties expires_in", nil), ("\(answer) required", ["verification_id"]),
        ("\(answer) properties expires_in type", "string"),
        ("components schemas Failure properties error properties code enum", ["internal"]), ("components responses unauthorized", nil),
    ]

    private static let harmless: [Change] = [
        ("paths /v2/other", ["get": [:]]), ("paths /v1/consent post", [:]),
        ("paths /v1/consent get responses 418", ["description": "A teapot"]), ("\(register) requestBody x-max-bytes", 1_000_000),
        ("\(body) properties language", ["type": "string"]), ("\(email) maxLength", 1_000), ("\(body) required", []),
        ("\(answer) properties language", ["type": "string"]),
    ]

    @Test func `A document breaks nothing of itself`() {
        #expect(DocumentChanges.breaking(from: Self.document, to: Self.document) == [])
    }

    @Test func `What is removed, narrowed or newly required breaks apps`() {
        for change in Self.breaking {
            let changed = Self.apply(change)
            #expect(changed != Self.document, "\(change.place)")
            #expect(!DocumentChanges.breaking(from: Self.document, to: changed).isEmpty, "\(change.place)")
        }
    }

    @Test func `What is added or allowed besides breaks nothing`() {
        for change in Self.harmless {
            let changed = Self.apply(change)
            #expect(changed != Self.document, "\(change.place)")
            #expect(DocumentChanges.breaking(from: Self.document, to: changed) == [], "\(change.place)")
        }
    }

    private static func apply(_ change: Change) -> JSONValue {
        self.change(document, at: change.place.split(separator: " ").map(String.init)[...], to: change.value)
    }

    /// Returns a document with another value at a place; nil removes it.
    private static func change(_ document: JSONValue, at place: ArraySlice<String>, to value: JSONValue?) -> JSONValue {
        guard let name = place.first else { return document }
        var document = document
        document[name] = place.count == 1 ? value : document[name].map { change($0, at: place.dropFirst(), to: value) }
        return document
    }
}
