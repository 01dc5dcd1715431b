internal import HTTPTypes
internal import JSON

extension APIOperation {
    /// The description of the API.
    static let service: [APIOperation] = [
        APIOperation(
            method: .get, path: "/", id: "getPage", area: .service, summary: "This page: every request and every error",
            replies: [.bytes(["text/html"], "The page")],
            handler: { _ in { _, _ in APIPage.answer() } }),
        APIOperation(
            method: .get, path: "/openapi.json", id: "getDescription", area: .service, summary: "The OpenAPI 3.1 document",
            replies: [
                .bare(
                    .map(of: JSONSchema(json: [:])), "The document",
                    example: ["openapi": "3.1.0", "info": ["title": "Heliograph API", "version": "1"]])
            ],
            handler: { _ in { _, _ in OpenAPIDocument.answer() } }),
    ]
}
