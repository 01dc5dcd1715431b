import Accounts
import Foundation
import HTTPClient
import HTTPTypes
import HeliographCrypto
import JSON
import Testing
import WireFormat

@testable import IdentityAPI

/// The examples of the document are of one case each: requests that the API takes, and answers that it gives.
@Suite struct ExampleTests {
    private struct Example {
        let operation: APIOperation
        /// The status of the answer; nil for a request.
        let status: Int?
        let value: JSONValue
    }

    private static let all: [Example] = APIOperation.all.flatMap { operation -> [Example] in
        let json = OpenAPIDocument.json["paths"]?[operation.path]?[operation.method.rawValue.lowercased()] ?? .null
        func example(_ body: JSONValue?, _ status: Int?) -> [Example] {
            (body?["content"]?["application/json"]?["example"]).map { [Example(operation: operation, status: status, value: $0)] } ?? []
        }
        let answers = (json["responses"]?.members ?? []).flatMap { example($0.value, Int($0.name)) }
        return example(json["requestBody"], nil) + answers
    }

    /// The answers of the golden files, by operation and status.
    private static func goldens() throws -> [String: [JSONValue]] {
        var goldens: [String: [JSONValue]] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: GoldenExchanges.folder) {
            let file = try JSONValue(parsing: Array(try Data(contentsOf: URL(fileURLWithPath: "\(GoldenExchanges.folder)/\(name)"))))
            guard let operation = DocumentedAnswers.operation(file.text("request.method") ?? "", file.text("request.path") ?? "")
            else { continue }
            let status = file["response"]?["status"]?.integer ?? 0
            goldens["\(operation.id) \(status)", default: []].append(file["response"]?["body"] ?? .null)
        }
        return goldens
    }

    /// Whether two values have the same members of the same types, and are of the same case.
    ///
    /// - Parameter cases: The members whose texts say which case it is.
    private static func agree(_ one: JSONValue, _ other: JSONValue, cases: Set<String>) -> Bool {
        switch (one, other) {
        case (.object(let members), .object(let others)):
            let isSame = members.map(\.name).sorted() == others.map(\.name).sorted()
            return isSame
                && members.allSatisfy { member in
                    // Its members are names of tables.
                    guard member.name != "erased", let found = other[member.name] else { return member.name == "erased" }
                    if cases.contains(member.name), member.value.string != nil { return member.value == found }
                    return agree(member.value, found, cases: cases)
                }
        case (.array(let elements), .array(let others)):
            guard let first = elements.first, let second = others.first else { return true }
            return agree(first, second, cases: cases)
        case (.integer, .string("<number>")), (.string, .string), (.integer, .integer), (.bool, .bool), (.null, .null): return true
        default: return false
        }
    }

    @Test func `the example of an answer is of a case that a golden exchange has`() throws {
        let goldens = try Self.goldens()
        var missing: [String] = []
        for example in Self.all {
            guard let status = example.status else { continue }
            guard let found = goldens["\(example.operation.id) \(status)"] else {
                missing.append(example.operation.id)
                continue
            }
            let agrees = found.contains { Self.agree(example.value, $0, cases: ["state", "status", "purpose", "reason"]) }
            #expect(agrees, "\(example.operation.id) \(status): \(example.value.text)")
        }
        // No app makes these requests, but servers and operators.
        #expect(
            Set(missing) == [
                "getDescription", "createTopic", "eraseUser", "getReceiptKeys", "postNotification", "getNotification", "getPicture",
            ])
    }

    @Test(.api) func `the example of a request is taken as it stands, and answered as the example of the answer is`() async throws {
        let (person, service) = (try await api.customer(), try await api.service(.notify, .writeTopics, .eraseUsers))
        for example in Self.all where example.status == nil {
            let operation = example.operation
            let bearer = operation.bearers.contains(.access) ? person.bearer : service.bearer
            let response = try await api.send(
                operation.method.rawValue, SampleRequest.path(of: operation), headers: [bearer, ("Content-Type", "application/json")],
                body: example.value.bytes)
            let isOfForm = [400, 413, 415, 422].contains(response.status) && response.json.text("error.code") != "invalid_code"
            #expect(!isOfForm, "\(operation.id): \(response.status) \(response.text)")
            guard response.status < 300,
                let answer = Self.all.first(where: { $0.operation.id == operation.id && $0.status == response.status })
            else { continue }
            #expect(Self.agree(answer.value, response.json, cases: []), "\(operation.id): \(response.text)")
        }
    }

    @Test(.api) func `the examples for servers are what they get`() async throws {
        let (service, ada) = (try await api.service(.notify, .writeTopics, .eraseUsers), try await api.customer())
        func expect(_ response: HTTPClientResponse, _ id: String) throws {
            let example = try #require(Self.all.first { $0.operation.id == id && $0.status == response.status }, "\(response.text)")
            #expect(Self.agree(example.value, response.json, cases: []), "\(id): \(response.text)")
        }
        try expect(try await api.send("PUT", "/v1/topics/event:1", by: service), "createTopic")
        let posted = try await api.send(
            "POST", "/v1/notifications", by: service, json: #"{"kind":"news","user_ids":["\#(ada.userID)"],"title":"A"}"#)
        try expect(posted, "postNotification")
        let id = posted.json.text("data.notification_id") ?? ""
        try expect(try await api.send("GET", "/v1/notifications/\(id)", by: service), "getNotification")
        try expect(try await api.send("DELETE", "/v1/users/\(ada.userID.wireString)", by: service), "eraseUser")
        try expect(try await api.send("GET", "/.well-known/jwks.json"), "getReceiptKeys")
    }

    @Test func `times within an example follow each other, and a hash is that of its text`() {
        let orders = [
            ("created_at", "expires_at"), ("created_at", "completed_at"), ("requested_at", "completed_at"), ("not_before", "expires_at"),
            ("created_at", "last_used_at"), ("last_used_at", "expires_at"), ("enrolled_at", "recovery_takes_effect_at"),
        ]
        func visit(_ value: JSONValue, _ place: String) {
            for (first, second) in orders {
                guard let earlier = value.text(first), let later = value.text(second) else { continue }
                #expect(earlier < later, "\(place): \(first), \(second)")
            }
            for member in value.members ?? [] { visit(member.value, "\(place).\(member.name)") }
            for element in value.elements ?? [] { visit(element, place) }
        }
        for example in Self.all { visit(example.value, example.operation.id) }
        let hash = SHA256.hash(APIProperty.consentText.string ?? "").map { String(format: "%02x", $0) }.joined()
        #expect(APIProperty.consentHash == .string(hash))
    }
}
