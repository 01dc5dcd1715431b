internal import HTTPTypes
internal import JSON

extension APIOperation {
    /// The operation in the form of the document.
    var json: JSONValue {
        let requirements = bearers.flatMap(\.requirements)
        return .members(
            ("operationId", .string(id)), ("tags", .array([.string(area.rawValue)])), ("summary", .string(summary)),
            ("security", .array(requirements)), ("parameters", parameters.isEmpty ? nil : .array(parameters.map(\.json))),
            ("requestBody", body?.json), ("responses", responses))
    }

    private var responses: JSONValue {
        let successes = replies.map { JSONValue.Member("\($0.status)", $0.json) }
        let failures = Dictionary(grouping: allErrors, by: \.status.code).sorted { $0.key < $1.key }.map { status, codes in
            JSONValue.Member("\(status)", Self.failure(codes.sorted { $0.number < $1.number }))
        }
        return .object(successes + failures)
    }

    /// An answer with one of these errors, which have a status in common.
    private static func failure(_ codes: [ErrorCode]) -> JSONValue {
        let names = JSONSchema.one(of: codes.map(\.rawValue)).json
        let envelope: JSONValue = [
            "$ref": "#/components/schemas/Failure", "properties": ["error": ["properties": ["code": names]]],
        ]
        let problem: JSONValue = [
            "$ref": "#/components/schemas/Problem",
            "properties": ["errors": ["items": ["properties": ["code": names]]]],
        ]
        let headers = APIHeader.general + (codes.contains(where: \.isRetryable) ? [.retryAfter] : [])
        return .members(
            ("description", .string(codes.map { "`\($0.rawValue)`" }.joined(separator: ", "))),
            ("headers", APIHeader.references(headers)),
            ("content", ["application/json": ["schema": envelope], "application/problem+json": ["schema": problem]]))
    }
}

extension APIReply {
    fileprivate var json: JSONValue {
        let types = content.sorted { $0.key < $1.key }.map { type, schema in
            JSONValue.Member(type, schema.map { .members(("schema", $0.json)) } ?? .object([]))
        }
        let links = links.map { JSONValue.Member($0.operation, $0.json) }
        return .members(
            ("description", .string(summary)), ("headers", APIHeader.references(APIHeader.general + headers)),
            ("content", types.isEmpty ? nil : .object(types)), ("links", links.isEmpty ? nil : .object(links)))
    }
}
