import Foundation
import HTTPClient
import HTTPTypes
import JSON
import TestSupport
import Testing

@testable import IdentityAPI

@Suite struct OpenAPITests {
    private static let golden = URL(fileURLWithPath: PackageRoot.path + "/Tests/Golden/openapi.json")

    @Test(.api) func `The document is served`() async throws {
        let response = try await api.send("GET", "/openapi.json")
        #expect(response.status == 200 && response.header("Content-Type") == "application/json")
        #expect(response.text == OpenAPIDocument.json.prettyText)
    }

    /// Run with `UPDATE_GOLDEN=1` to write the file again. That refuses changes which break apps: for those, delete the file first, and
    /// describe them in the changelog.
    @Test func `The document matches the golden file, and breaks no app`() throws {
        let isUpdate = ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil
        if !isUpdate || FileManager.default.fileExists(atPath: Self.golden.path) {
            let published = try JSONValue(parsing: Array(Data(contentsOf: Self.golden)), limits: JSONLimits(maxDepth: 64))
            let breaking = DocumentChanges.breaking(from: published, to: OpenAPIDocument.json)
            try #require(breaking.isEmpty)
        }
        let text = OpenAPIDocument.json.prettyText
        if isUpdate { try text.write(to: Self.golden, atomically: true, encoding: .utf8) }
        let isCurrent = try String(contentsOf: Self.golden, encoding: .utf8) == text
        #expect(isCurrent, "Tests/Golden/openapi.json is of another description: UPDATE_GOLDEN=1 writes it")
    }

    @Test func `Operations, their ids and the statuses of their answers are unique`() {
        let operations = APIOperation.all
        #expect(Set(operations.map(\.id)).count == operations.count)
        #expect(Set(operations.map { "\($0.method) \($0.pattern)" }).count == operations.count)
        for operation in operations {
            let statuses = operation.replies.map(\.status) + Set(operation.allErrors.map(\.status.code))
            #expect(Set(statuses).count == statuses.count, "\(operation.id)")
        }
    }

    @Test func `Every parameter in a path is described`() {
        for operation in APIOperation.all {
            let named = operation.path.matches(of: #/\{([a-z]+)\}/#).map { String($0.1) }
            #expect(named == operation.parameters.filter { $0.place == .path }.map(\.name), "\(operation.id)")
        }
    }

    @Test func `A link leads from a member of the answer to a parameter of another request`() throws {
        let links = APIOperation.all.flatMap(\.replies).flatMap { reply in reply.links.map { (reply, $0) } }
        #expect(links.count > 5)
        for (reply, link) in links {
            let target = try #require(APIOperation.all.first { $0.id == link.operation })
            #expect(target.parameters.contains { $0.name == link.parameter })
            let schema = try #require(reply.content["application/json"]??.json)
            #expect(schema["properties"]?["data"]?["properties"]?[link.member] != nil)
        }
    }

    @Test func `Every reference has a component`() {
        let names = OpenAPIDocument.json.text.matches(of: #/"\$ref":"#/components/([a-zA-Z]+)/([A-Za-z._-]+)"/#)
        #expect(names.count > 100)
        for name in names {
            #expect(OpenAPIDocument.json["components"]?[String(name.1)]?[String(name.2)] != nil, "\(name.2)")
        }
    }

    @Test func `An answer that the document does not have is found`() {
        let job = #"{"success":true,"data":{"jobs":[]}}"#
        let cases: [(status: Int, type: String, body: String, isFound: Bool)] = [
            (200, "application/json", job, false), (201, "application/json", job, true), (200, "text/html", job, true),
            (200, "application/json", #"{"success":true,"data":{}}"#, true),
            (200, "application/json", #"{"success":true,"data":{"jobs":[],"more":1}}"#, true),
            (200, "application/json", #"{"success":true,"data":{"jobs":{}}}"#, true),
            (200, "application/json", #"{"success":true,"data":{"jobs":[{}]}}"#, true),
        ]
        for one in cases {
            let response = HTTPClientResponse(
                status: one.status, headers: [("Content-Type", one.type)], body: Array(one.body.utf8))
            #expect(DocumentedAnswers.faults(of: response, to: "GET", "/v1/images/jobs?limit=1").isEmpty == !one.isFound, "\(one)")
        }
    }
}
