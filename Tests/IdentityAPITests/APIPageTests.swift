import Accounts
import Foundation
import HTTPClient
import HTTPTypes
import JSON
import TestSupport
import Testing

@testable import IdentityAPI

@Suite struct APIPageTests {
    @Test(.api) func `A browser that opens the API gets its page, which may load nothing from elsewhere`() async throws {
        let response = try await api.send("GET", "/")
        #expect(response.status == 200)
        #expect(response.header("Content-Type") == "text/html; charset=utf-8")
        #expect(try #require(response.header("Content-Security-Policy")).hasPrefix("default-src 'none';"))
        #expect(response.text.contains("<title>Heliograph API</title>"))
        #expect(!response.text.contains("<script") && !response.text.contains(" style="))
    }

    /// The page without the places where lines may be broken.
    private static let text = APIPage.text.replacing("<wbr>", with: "")

    /// The part of the page about a request.
    private func article(_ id: String) throws -> Substring {
        let start = try #require(Self.text.range(of: "<article id=\"\(id)\">")).upperBound
        return Self.text[start..<(try #require(Self.text.range(of: "</article>", range: start..<Self.text.endIndex))).lowerBound]
    }

    @Test func `The page lists exactly the served requests, in the contents and in the text`() {
        let heading = #/<span class="method [a-z]+">([A-Z]+)</span> <span class="path">(/[^<]*)</span>/#
        let served = APIArea.allCases.flatMap { area in APIOperation.all.filter { $0.area == area }.map { "\($0.method) \($0.path)" } }
        #expect(served.count == APIOperation.all.count)
        #expect(Self.text.matches(of: heading).map { "\($0.1) \($0.2)" } == served + served)
    }

    @Test func `The page says of each request which bearer it needs, with the scope of a key, and what a repetition gets`() throws {
        for operation in APIOperation.all {
            let article = try article(operation.id)
            let bearers = operation.bearers.isEmpty ? "none" : operation.bearers.map(\.title).joined(separator: ", ")
            #expect(article.contains("<dt>Bearer</dt><dd>\(HTMLText.marked(bearers))</dd>"), "\(operation.id)")
            #expect(article.contains("<dt>Repeated</dt><dd>"), "\(operation.id)")
            if operation.parameters.contains(where: { $0.name == "Idempotency-Key" }) {
                #expect(article.contains("<dt>Repeated</dt><dd><code>Idempotency-Key</code>, "), "\(operation.id)")
            } else if operation.method == .post {
                #expect(operation.repetition != nil, "\(operation.id) does not say whether it may be repeated")
            }
        }
        for scope in ServiceScope.allCases { #expect(APIPage.text.contains("<code>\(scope.rawValue)</code>")) }
    }

    @Test func `Each link within the page has one place that it leads to`() {
        let ids = APIPage.text.matches(of: #/ id="([^"]+)"/#).map { String($0.1) }
        #expect(Set(ids).count == ids.count)
        let links = Set(APIPage.text.matches(of: #/href="#([^"]+)"/#).map { String($0.1) })
        #expect(links.subtracting(ids) == [])
        #expect(links.isSuperset(of: APIOperation.all.map(\.id)))
    }

    @Test func `The page has every schema with its members, and marks those that are required`() throws {
        for schema in OpenAPIDocument.json["components"]?["schemas"]?.members ?? [] {
            let section = try #require(
                Self.text.split(separator: "<section class=\"schema\" id=\"").first { $0.hasPrefix("\(schema.name)\"") })
            let required = (schema.value["required"]?.elements ?? []).compactMap(\.string)
            for member in schema.value["properties"]?.members ?? [] {
                let row = try #require(section.split(separator: "<div>").first { $0.hasPrefix("<dt><code>\(member.name)</code> ") })
                #expect(row.contains("class=\"required\"") == required.contains(member.name), "\(schema.name).\(member.name)")
                let description = HTMLText.marked(member.value["description"]?.string ?? "")
                #expect(row.contains("<dd>\(description)"), "\(schema.name).\(member.name)")
                for value in member.value["enum"]?.elements ?? [] where value != .null {
                    #expect(row.contains("<code>\(value.string ?? "")</code>"), "\(schema.name).\(member.name)")
                }
            }
        }
    }

    @Test func `The page renders every keyword of the schemas in the document`() {
        var unknown: Set<String> = []
        func visit(_ schema: JSONValue) {
            unknown.formUnion((schema.members ?? []).map(\.name).filter { !SchemaHTML.keywords.contains($0) })
            for member in schema["properties"]?.members ?? [] { visit(member.value) }
            for inner in [schema["items"], schema["additionalProperties"]].compactMap(\.self) + (schema["anyOf"]?.elements ?? []) {
                visit(inner)
            }
        }
        for schema in OpenAPIDocument.json["components"]?["schemas"]?.members ?? [] { visit(schema.value) }
        for parameter in APIOperation.all.flatMap(\.parameters) { visit(parameter.schema.json) }
        #expect(unknown == [])
    }

    @Test(arguments: [
        (#"{"type":["string","null"],"format":"uuid"}"#, "UUID or null"),
        (#"{"type":["object","null"],"additionalProperties":{"type":"string"}}"#, "null or object of any names, each text"),
        (#"{"type":["array","null"],"items":{"type":"string"}}"#, "null or array of texts"),
        (#"{"type":["object","null"]}"#, "always <code>null</code>"),
        (#"{"type":"array","items":{"type":"string"}}"#, "array of texts"),
        (##"{"type":"array","items":{"$ref":"#/components/schemas/Meta"}}"##, ##"array of <a href="#Meta">Meta</a>"##),
        (#"{"anyOf":[{"type":"string","format":"date-time"},{"const":"me"}]}"#, #"instant or always <code>&quot;me&quot;</code>"#),
        (#"{"type":"object","additionalProperties":{"type":"integer"}}"#, "object of any names, each integer"), ("{}", "any value"),
        (#"{"type":"string","contentMediaType":"image/jpeg"}"#, "file"), (#"{"type":"string","contentEncoding":"base64"}"#, "base64"),
    ])
    func `A type is said in words`(_ schema: String, _ words: String) throws {
        #expect(SchemaHTML.type(of: try JSONValue(parsing: Array(schema.utf8))) == words)
    }

    @Test func `Limits of numbers, texts and lists are said in words`() throws {
        let schema = #"{"type":"array","minItems":3,"maxItems":3,"items":{"type":"string","enum":["a<b","c"]},"pattern":"^x$"}"#
        let row = SchemaHTML.row("n", try JSONValue(parsing: Array(schema.utf8)), isRequired: false)
        #expect(
            row.contains(#"One of <code>a&lt;b</code>, <code>c</code>. <span class="limits">3 elements, matches <code>^x$</code></span>"#))
        let named = SchemaHTML.row("n", ["type": "string", "enum": ["a"], "description": "`a`: why."], isRequired: false)
        #expect(named.contains("<dd><code>a</code>: why.</dd>"), "the description has the values")
        let range = SchemaHTML.row("n", ["type": "integer", "minimum": 0, "maximum": 60], isRequired: false)
        #expect(range.contains("0 to 60<"))
        #expect(SchemaHTML.row("n", ["type": "integer", "minimum": 1], isRequired: false).contains("1 or more<"))
    }

    @Test func `Each request has a sample, with the example of its body and of its answers`() throws {
        for operation in APIOperation.all {
            let article = try article(operation.id)
            #expect(article.contains("<pre><code>curl "), "\(operation.id)")
            let json = OpenAPIDocument.json["paths"]?[operation.path]?[operation.method.rawValue.lowercased()]
            let bodies = [json?["requestBody"]] + (json?["responses"]?.members ?? []).map(\.value)
            for example in bodies.compactMap({ $0?["content"]?["application/json"]?["example"] }) {
                #expect(article.contains(HTMLText.escaped(String(example.prettyText.dropLast()))), "\(operation.id)")
            }
        }
    }

    @Test func `A sample has the path, the bearer and each photo of the form`() throws {
        let operation = try #require(APIOperation.all.first { $0.id == "addPhoto" })
        let body = OpenAPIDocument.json["paths"]?[operation.path]?["post"]?["requestBody"]
        let lines = SampleRequest.text(of: operation, body).split(separator: " \\\n  ").map(String.init)
        #expect(lines[0] == #"curl "$API/v1/topics/event:summer-party/photos""#)
        #expect(lines[1] == #"-H "Authorization: Bearer $ACCESS_TOKEN""#)
        #expect(lines.last?.hasPrefix("-F ") == true)
    }

    @Test(.api, .enabled(if: Chromium.path != nil, "not tried in a browser: chromium is missing (apt-get install chromium)"))
    func `The page fits a phone, with all samples open`() async throws {
        let width = try await Chromium.value(
            of: "(document.querySelectorAll('details').forEach((part) => { part.open = true }), document.documentElement.scrollWidth)",
            at: "http://127.0.0.1:\(api.port)/", width: 390)
        #expect(width == "390")
    }

    @Test func `The page lists every error`() {
        for code in ErrorCode.allCases {
            #expect(APIPage.text.contains("<code>\(code.rawValue)</code> \(code.number)"))
        }
    }

    /// Run with `UPDATE_GOLDEN=1` to write the section again.
    @Test func `the documentation lists every error by its status`() throws {
        var lines = ["| status | codes |", "|---|---|"]
        for (status, codes) in Dictionary(grouping: ErrorCode.allCases, by: \.status.code).sorted(by: { $0.key < $1.key }) {
            let names = codes.sorted { $0.number < $1.number }.map { "`\($0.rawValue)` \($0.number)" }
            lines.append("| \(status) | \(names.joined(separator: ", ")) |")
        }
        let section = lines.map { $0 + "\n" }.joined()
        #expect(try GeneratedSection("Error codes", of: "docs/api/errors.md").holds(section))
    }
}
