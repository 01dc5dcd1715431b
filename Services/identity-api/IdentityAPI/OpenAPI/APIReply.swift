internal import JSON

/// A successful answer to a request.
struct APIReply: Sendable {
    let status: Int
    let summary: String
    /// The schema for each media type; nil for bytes that are not JSON.
    var content: [String: JSONSchema?] = [:]
    var headers: [APIHeader] = []
    var links: [APILink] = []
    /// The members of its example beyond the required ones, or in place of them: which optional members occur depends on the state.
    var example: JSONValue?

    /// The envelope `success`, `data`, `meta`; the example is of `data`.
    static func data(
        _ data: JSONSchema, status: Int = 200, _ summary: String, headers: [APIHeader] = [], links: [APILink] = [],
        example: JSONValue? = nil
    ) -> APIReply {
        bare(
            .object(["success": .constant(true), "data": data, "meta": .component("Meta")]), status: status, summary, headers: headers,
            links: links, example: example.map { ["data": $0] })
    }

    /// The envelope `success`, `code`, `message`, `data`; the example is of `data`.
    static func success(
        _ data: JSONSchema, _ summary: String, headers: [APIHeader] = [], links: [APILink] = [], example: JSONValue? = nil
    ) -> APIReply {
        bare(
            .object(["success": .constant(true), "code": .constant(0), "message": .text, "data": data]), summary, headers: headers,
            links: links, example: example.map { ["data": $0] })
    }

    /// A JSON value without an envelope.
    static func bare(
        _ schema: JSONSchema, status: Int = 200, _ summary: String, headers: [APIHeader] = [], links: [APILink] = [],
        example: JSONValue? = nil
    ) -> APIReply {
        APIReply(
            status: status, summary: summary, content: ["application/json": schema], headers: headers, links: links, example: example)
    }

    static func noContent(_ summary: String) -> APIReply { APIReply(status: 204, summary: summary) }

    /// The answer to `If-None-Match`.
    static let notModified = APIReply(status: 304, summary: "The client has the current answer", headers: [.eTag])

    /// Bytes that are not JSON.
    static func bytes(_ types: [String], status: Int = 200, _ summary: String, headers: [APIHeader] = []) -> APIReply {
        APIReply(
            status: status, summary: summary, content: Dictionary(uniqueKeysWithValues: types.map { ($0, JSONSchema?.none) }),
            headers: headers)
    }
}

/// A header that an answer may have.
enum APIHeader: String, Sendable, CaseIterable {
    case requestID = "X-Request-ID"
    case rateLimitPolicy = "RateLimit-Policy"
    case rateLimit = "RateLimit"
    case retryAfter = "Retry-After"
    case sessionToken = "X-Session-Token"
    case idempotentReplayed = "Idempotent-Replayed"
    case preferenceApplied = "Preference-Applied"
    case location = "Location"
    case eTag = "ETag"
    case contentRange = "Content-Range"
    case dpopNonce = "DPoP-Nonce"

    /// The headers that every response may have.
    static let general: [APIHeader] = [.requestID, .rateLimitPolicy, .rateLimit]

    var summary: String {
        switch self {
        case .requestID: "The request's id in answers and logs: the client's, or a generated one"
        case .rateLimitPolicy: "The limits that the request counted against (draft-ietf-httpapi-ratelimit-headers)"
        case .rateLimit: "What is left of these limits"
        case .retryAfter: "Seconds after which the same request can succeed"
        case .sessionToken: "The bearer of the session's requests"
        case .idempotentReplayed: "`true` when this is the answer to an earlier request with the same key"
        case .preferenceApplied: "The part of `Prefer` that was applied"
        case .location: "The path of what was created"
        case .eTag: "The state of the answer, for `If-None-Match`"
        case .contentRange: "The bytes that the answer has"
        case .dpopNonce: "The `nonce` for the proof of the next request"
        }
    }

    /// The headers in the form of the document, by reference.
    static func references(_ headers: [APIHeader]) -> JSONValue {
        .object(headers.map { .init($0.rawValue, .members(("$ref", .string("#/components/headers/\($0.rawValue)")))) })
    }
}

/// A request that an answer gives the parameters for.
struct APILink: Sendable {
    /// The id of the operation.
    let operation: String
    /// The parameter of the other request, and the member of `data` that is its value.
    let parameter: String
    let member: String

    var json: JSONValue {
        .members(
            ("operationId", .string(operation)),
            ("parameters", .members((parameter, .string("$response.body#/data/\(member)")))))
    }
}
