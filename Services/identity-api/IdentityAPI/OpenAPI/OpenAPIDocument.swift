internal import HTTPTypes
internal import Hummingbird
internal import JSON
internal import NIOCore

/// The OpenAPI 3.1 document of the API, made of ``APIOperation/all``.
enum OpenAPIDocument {
    /// Answers `GET /openapi.json`.
    static func answer() -> Response {
        Response(
            status: .ok,
            headers: [
                .contentType: "application/json", .contentLength: "\(body.readableBytes)", .cacheControl: "public, max-age=300",
            ],
            body: ResponseBody(byteBuffer: body))
    }

    private static let body = ByteBuffer(string: json.prettyText)

    static let json: JSONValue = .members(
        ("openapi", "3.1.0"),
        (
            "info",
            .members(
                ("title", "Heliograph API"), ("version", "1"),
                (
                    "description",
                    """
                    Sign-up and sign-in by face, pictures that take longer than an app stays open, and pushes that tell people the result. \
                    Fields that are not known are ignored, except in `POST /v1/notifications`. An optional field may be missing, empty or \
                    null. `HEAD` is served wherever `GET` is. \
                    A path that is served with other methods answers 405 and `Allow`.
                    """
                ))
        ),
        ("servers", [["url": "/"]]),
        ("tags", .array(APIArea.allCases.map { .members(("name", .string($0.rawValue))) })),
        ("paths", written.paths),
        ("components", components))

    /// The schema of a component that is not of one request alone.
    static func named(_ name: String) -> JSONValue { schemas.first { $0.key == name }?.value.json ?? .object([]) }

    private static let written: (paths: JSONValue, schemas: [JSONValue.Member]) = {
        var components = SchemaComponents()
        for (name, schema) in schemas { components.add(name, schema.json) }
        let paths = Self.paths(&components)
        return (paths, components.members)
    }()

    private static func paths(_ components: inout SchemaComponents) -> JSONValue {
        var items: [JSONValue.Member] = []
        for operation in APIOperation.all {
            let method = JSONValue.Member(operation.method.rawValue.lowercased(), components.write(operation))
            if let index = items.firstIndex(where: { $0.name == operation.path }) {
                items[index].value = .object((items[index].value.members ?? []) + [method])
            } else {
                items.append(.init(operation.path, .object([method])))
            }
        }
        return .object(items)
    }

    private static let components: JSONValue = .members(
        ("schemas", .object(written.schemas)),
        ("responses", .object(APIOperation.failureComponents)),
        (
            "headers",
            .object(
                APIHeader.allCases.map { header in
                    .init(header.rawValue, .members(("description", .string(header.summary)), ("schema", JSONSchema.text.json)))
                })
        ),
        (
            "securitySchemes",
            .members(
                ("accessToken", bearer("The access token of a sign-in")),
                ("firebaseToken", bearer("The ID token of a Firebase user, where the operator accepts them", format: "JWT")),
                ("sessionToken", bearer("The header `X-Session-Token` of the answer that began the session")),
                ("enrolmentToken", bearer("The `enrolment_token` of a proven e-mail address, for one sign-up within 15 minutes")),
                ("receiptToken", bearer("The `receipt_token` of the answer that began the erasure")),
                ("apiKey", bearer("The key of an app's own server, with one of its scopes")))
        ))

    private static func bearer(_ summary: String, format: String? = nil) -> JSONValue {
        .members(
            ("type", "http"), ("scheme", "bearer"), ("bearerFormat", format.map(JSONValue.string)), ("description", .string(summary)))
    }

    /// What an error may say beside its code: the field, the attempts that are left, the current consent, and what a new device needs.
    private static let errorDetails: KeyValuePairs<String, JSONSchema> = [
        "field": .text, "attempts_left": .count, "consent_version": .text, "consent_sha256": .text, "verification_id": .uuid,
        "reference": .reference, "mail_after": .count, "expires_in": .count, "resend_after": .count,
    ]

    private static let schemas: KeyValuePairs<String, JSONSchema> = [
        "Meta": .object(["requestId": .text, "timestamp": .instant]),
        "Failure": .object([
            "success": .constant(false), "code": .integer(1_000...1_999), "message": .text,
            "error": .object(
                ["code": .one(of: ErrorCode.self), "retryable": .boolean, "retry_after": .count],
                optional: errorDetails),
            "data": .null, "meta": .component("Meta"),
        ]),
        "Problem": .object([
            "type": .text, "title": .text, "status": .integer(400...599), "detail": .text, "instance": .text,
            "code": .integer(1_000...1_999), "retryable": .boolean, "retry_after": .count,
            "errors": .array(
                of: .object(
                    ["code": .one(of: ErrorCode.self), "detail": .text],
                    optional: errorDetails)),
        ]),
    ]
}
