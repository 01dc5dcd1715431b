internal import HTTPTypes
internal import JSON

extension APIOperation {
    /// The description of the API.
    static let service: [APIOperation] = [
        APIOperation(
            .get, "/", id: "getPage", area: .service, summary: "This page: every request and every error", from: .anyone(),
            reply: .response(.bytes(["text/html"], "The page")),
            handler: { _ in { (_: APICall<Void, Void, EmptyBody>) in APIPage.answer() } }),
        APIOperation(
            .get, "/openapi.json", id: "getDescription", area: .service, summary: "The OpenAPI 3.1 document", from: .anyone(),
            reply: .response(
                .bare(
                    .map(of: JSONSchema(json: [:])), "The document",
                    example: ["openapi": "3.1.0", "info": ["title": "Heliograph API", "version": "1"]])),
            handler: { _ in { (_: APICall<Void, Void, EmptyBody>) in OpenAPIDocument.answer() } }),
    ]
}
