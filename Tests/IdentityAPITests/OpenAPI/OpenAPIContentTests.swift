import JSON
import Testing

@testable import IdentityAPI

/// What the document says to people and to generators of clients.
@Suite struct OpenAPIContentTests {
    @Test func `every member of every body is described`() {
        var missing: Set<String> = []
        func visit(_ value: JSONValue) {
            if value["type"] != nil {
                for member in value["properties"]?.members ?? [] where member.value["description"]?.string?.isEmpty != false {
                    missing.insert(member.name)
                }
            }
            for member in value.members ?? [] { visit(member.value) }
            for element in value.elements ?? [] { visit(element) }
        }
        visit(OpenAPIDocument.json)
        #expect(missing.sorted() == [])
    }

    @Test func `every request has an example, and its schema allows it`() {
        for operation in (OpenAPIDocument.json["paths"]?.members ?? []).flatMap({ $0.value.members ?? [] }) {
            let id = operation.value.text("operationId") ?? ""
            let bodies = [operation.value["requestBody"]] + (operation.value["responses"]?.members ?? []).map(\.value)
            let media = bodies.compactMap { $0?["content"]?["application/json"] }
            for one in media where one["schema"] != nil {
                let faults = SchemaCheck.faults(of: one["example"] ?? .bool(false), one["schema"] ?? .null)
                #expect(faults == [], "\(id)")
                #expect(one["example"]?.text.contains("…") == false, "\(id): a text has no example: \(one["example"]?.text ?? "")")
            }
        }
    }

    @Test func `objects have names of their own, and nothing is only null`() {
        var inline: [String] = []
        func visit(_ value: JSONValue, _ place: String) {
            if value["type"] == "object", value["properties"] != nil, place.contains("/properties/") || place.contains("/content/") {
                inline.append(place)
            }
            if value["type"] == "null" { inline.append("\(place) is null") }
            for member in value.members ?? [] where member.name != "example" { visit(member.value, "\(place)/\(member.name)") }
        }
        visit(OpenAPIDocument.json, "")
        #expect(inline == [])
    }

    @Test func `no note is without a member`() {
        var names: Set<String> = []
        func visit(_ value: JSONValue) {
            for member in value["properties"]?.members ?? [] { names.insert(member.name) }
            for member in value.members ?? [] { visit(member.value) }
            for element in value.elements ?? [] { visit(element) }
        }
        visit(OpenAPIDocument.json)
        let unused = APIProperty.all.keys.filter { !names.contains(String($0.split(separator: ".").last ?? "")) }
        #expect(unused.sorted() == [])
    }
}
