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
        let failures = failures.map { failure in
            JSONValue.Member("\(failure.status)", .members(("$ref", .string("#/components/responses/\(failure.name)"))))
        }
        return .object(successes + failures)
    }

    /// The answers with errors, by their statuses.
    private var failures: [APIFailure] {
        Dictionary(grouping: allErrors, by: \.status.code).sorted { $0.key < $1.key }.map { status, codes in
            APIFailure(status: status, codes: codes.sorted { $0.number < $1.number })
        }
    }

    /// The answers with errors of all requests, each once, for the components of the document.
    static var failureComponents: [JSONValue.Member] {
        let failures = Dictionary(all.flatMap(\.failures).map { ($0.name, $0) }) { first, _ in first }
        return failures.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, $0.value.json) }
    }
}

/// An answer with one of some errors, which have a status in common. Many requests have it.
private struct APIFailure {
    let status: Int
    let codes: [ErrorCode]

    var name: String { codes.map(\.rawValue).joined(separator: ".") }

    var json: JSONValue {
        let (envelope, problem): (JSONValue, JSONValue) = (
            ["$ref": "#/components/schemas/Failure"], ["$ref": "#/components/schemas/Problem"]
        )
        let headers =
            APIHeader.general + (codes.contains(where: \.isRetryable) ? [.retryAfter] : [])
            + (codes.contains(.useDPoPNonce) ? [.dpopNonce] : [])
        return .members(
            ("description", .string(codes.map { "`\($0.rawValue)`" }.joined(separator: ", "))),
            // A reference that narrows a schema is more than generators of clients understand.
            ("x-error-codes", .array(codes.map { .string($0.rawValue) })),
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
