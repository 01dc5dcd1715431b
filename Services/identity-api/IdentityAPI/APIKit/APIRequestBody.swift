internal import Hummingbird
internal import JSON

/// A type that the body of a request is read as, with its description.
protocol APIRequestBody: Sendable {
    /// The description; nil for a request without a body.
    static var description: APIBody? { get }

    /// Reads the body of a request.
    static func read(_ request: Request, _ context: APIRequestContext) async throws -> Self
}

/// The body of a request that has none; what is sent is not read.
struct EmptyBody: APIRequestBody {
    static var description: APIBody? { nil }

    static func read(_: Request, _: APIRequestContext) async throws -> EmptyBody { EmptyBody() }
}

/// A body that is a JSON object, read field by field.
protocol JSONObjectBody: APIRequestBody {
    static var fields: BodyFields<Self> { get }
    /// The maximum size of the JSON.
    static var maxBytes: Int { get }
    /// Whether the request needs the body; no body counts as an empty object.
    static var isRequired: Bool { get }
    /// Whether fields that are not known are ignored.
    static var allowsUnknownFields: Bool { get }
    /// An example; nil where a body with all fields is one.
    static var example: JSONValue? { get }
}

extension JSONObjectBody {
    static var isRequired: Bool { true }
    static var allowsUnknownFields: Bool { true }
    static var example: JSONValue? { nil }
    static var description: APIBody? { .json(fields.schema, upTo: maxBytes, isRequired: isRequired, example: example) }

    static func read(_ request: Request, _ context: APIRequestContext) async throws -> Self {
        try parse(try await request.collectJSON(upTo: maxBytes, isRequired: isRequired, context))
    }

    // Inlined into an async function, it crashes the optimiser of Swift 6.3.1 (CoroSplit, release builds only).
    @inline(never)
    private static func parse(_ bytes: [UInt8]) throws -> Self {
        let body = bytes.isEmpty && !isRequired ? JSONBody.empty : try JSONBody(parsing: bytes)
        if !allowsUnknownFields, let unknown = body.names.subtracting(fields.list.map(\.name)).min() {
            throw APIError(.invalidRequest, "There is no such field", field: unknown)
        }
        return try fields.read(body)
    }
}
