internal import JSON

/// The body that a request has.
struct APIBody: Sendable {
    /// The schema for each media type.
    let content: [String: JSONSchema]
    /// The maximum size; a longer body is refused with `payload_too_large`.
    let maxBytes: Int
    /// Whether the request needs a body.
    var isRequired = true
    /// Whether a faulty body counts as no body.
    var isLenient = false
    /// An example in JSON that the API takes as it stands; nil where a body with all members is such an example.
    var example: JSONValue?

    /// A JSON value.
    static func json(_ schema: JSONSchema, upTo maxBytes: Int, isRequired: Bool = true, example: JSONValue? = nil) -> APIBody {
        APIBody(content: ["application/json": schema], maxBytes: maxBytes, isRequired: isRequired, example: example)
    }

    /// A form with files.
    static func form(_ schema: JSONSchema, upTo maxBytes: Int) -> APIBody {
        APIBody(content: ["multipart/form-data": schema], maxBytes: maxBytes)
    }

    /// The errors that a body of this kind can get.
    var errors: Set<ErrorCode> {
        isLenient ? [] : [.payloadTooLarge, .unsupportedMediaType, .requestTimeout, .missingField]
    }

    var json: JSONValue {
        .members(
            ("required", .bool(isRequired)), ("x-max-bytes", .integer(maxBytes)),
            (
                "content",
                .object(
                    content.sorted { $0.key < $1.key }.map { type, schema in
                        JSONValue.Member(type, .members(("schema", schema.json)))
                    })
            ))
    }
}
