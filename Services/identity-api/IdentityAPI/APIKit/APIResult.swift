internal import HTTPTypes
internal import Hummingbird
internal import JSON

/// The successful answers to a request: their description, and the response that is made of the handler's reply.
struct APIResult<Value: Sendable>: Sendable {
    let replies: [APIReply]
    let response: @Sendable (Value, APIRequestContext) -> Response
}

extension APIResult where Value: APIValue {
    /// The envelope `success`, `data`, `meta` around the reply.
    ///
    /// - Parameters:
    ///   - name: The only member of `data`, whose value is the reply; nil for a reply that is `data` itself.
    ///   - cacheControl: The value of `Cache-Control`.
    ///   - example: Members of the example of `data`; see ``APIReply/example``.
    static func data(
        _ summary: String, in name: String? = nil, status: HTTPResponse.Status = .ok, links: [APILink] = [], cacheControl: String? = nil,
        example: JSONValue? = nil
    ) -> APIResult {
        let schema = name.map { JSONSchema.object([($0, Value.schema)], optional: []) } ?? Value.schema
        return APIResult(replies: [.data(schema, status: status.code, summary, links: links, example: example)]) { value, context in
            let data = name.map { JSONValue.object([.init($0, value.json)]) } ?? value.json
            var response = Answer.json(Answer.data(data, context.requestID), status: status)
            if let cacheControl { response.headers[.cacheControl] = cacheControl }
            return response
        }
    }
}

extension APIResult<Void> {
    /// 204, without a body.
    static func noContent(_ summary: String) -> APIResult {
        APIResult(replies: [.noContent(summary)]) { _, _ in Response(status: .noContent) }
    }
}
