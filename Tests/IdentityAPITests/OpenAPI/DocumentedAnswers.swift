import HTTPClient
import HTTPTypes
import JSON
import Testing

@testable import IdentityAPI

/// Holds every answer that a test gets to the description of its request: its status, its error and the schema of its body.
enum DocumentedAnswers {
    private static let responses = Dictionary(
        uniqueKeysWithValues: APIOperation.all.map { ($0.id, $0.json["responses"] ?? .null) })
    private static let limits = JSONLimits(maxDepth: 64)

    /// Records an issue for an answer that the document does not have.
    static func check(_ response: HTTPClientResponse, to method: String, _ target: String, at location: SourceLocation) {
        let faults = faults(of: response, to: method, target)
        guard !faults.isEmpty else { return }
        Issue.record("\(method) \(target) \(response.status): \(faults.joined(separator: "; "))", sourceLocation: location)
    }

    /// Returns what the document does not have of an answer.
    static func faults(of response: HTTPClientResponse, to method: String, _ target: String) -> [String] {
        guard let operation = operation(method, target) else {
            // Preflights are answered at every path.
            return response.status >= 400 || method == "OPTIONS" ? [] : ["a request that is not described is answered"]
        }
        guard let answer = responses[operation.id]?["\(response.status)"].map(OpenAPIDocument.json.resolved) else {
            return ["the status is not described"]
        }
        // An answer to HEAD has no body.
        guard method != "HEAD" else { return [] }
        guard let content = answer["content"] else { return response.body.isEmpty ? [] : ["it has a body"] }
        let type = String((response.header("Content-Type") ?? "").prefix { $0 != ";" })
        guard let described = content[type] else { return ["the type \(type) is not described"] }
        guard let schema = described["schema"] else { return [] }
        guard let body = try? JSONValue(parsing: response.body, limits: limits) else { return ["the body is not JSON"] }
        return codeFaults(body, answer["x-error-codes"]) + SchemaCheck.faults(of: body, schema)
    }

    private static func codeFaults(_ body: JSONValue, _ described: JSONValue?) -> [String] {
        guard let described = described?.elements, let code = body["error"]?["code"] ?? body["errors"]?.elements?.first?["code"] else {
            return []
        }
        return described.contains(code) ? [] : ["the error \(code.text) is not described"]
    }

    /// Returns the operation that the router chooses: of several paths the one with the most literal segments.
    static func operation(_ method: String, _ target: String) -> APIOperation? {
        let path = target.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: true)
        let matching = APIOperation.all.filter { matches($0, path) }
        let literals = matching.map(literalSegments).max()
        let served = method == "HEAD" ? "GET" : method
        return matching.first { $0.method.rawValue == served && literalSegments($0) == literals }
    }

    private static func matches(_ operation: APIOperation, _ path: [Substring]) -> Bool {
        let pattern = operation.path.split(separator: "/")
        guard operation.path.hasSuffix("{path}") ? path.count >= pattern.count : path.count == pattern.count else { return false }
        return zip(pattern, path).allSatisfy { $0 == $1 || $0.hasPrefix("{") }
    }

    private static func literalSegments(_ operation: APIOperation) -> Int {
        operation.path.split(separator: "/").count { !$0.hasPrefix("{") }
    }
}
