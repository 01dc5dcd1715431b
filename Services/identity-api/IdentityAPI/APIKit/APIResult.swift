internal import Accounts
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
        APIResult(replies: [.data(schema(in: name), status: status.code, summary, links: links, example: example)]) { value, context in
            Answer.json(Answer.data(wrapped(value, in: name), context.requestID), status: status).cached(cacheControl)
        }
    }

    /// The envelope `success`, `data` around the reply; see ``data(_:in:status:links:cacheControl:example:)``.
    static func dataAlone(_ summary: String, in name: String? = nil, cacheControl: String) -> APIResult {
        let envelope = JSONSchema.object(["success": .constant(true), "data": schema(in: name)])
        return APIResult(replies: [.bare(envelope, summary)]) { value, _ in
            Answer.json(.members(("success", true), ("data", wrapped(value, in: name)))).cached(cacheControl)
        }
    }

    private static func schema(in name: String?) -> JSONSchema {
        name.map { .object([($0, Value.schema)], optional: []) } ?? Value.schema
    }

    private static func wrapped(_ value: Value, in name: String?) -> JSONValue {
        name.map { .object([JSONValue.Member($0, value.json)]) } ?? value.json
    }

    /// The envelope `success`, `code`, `message`, `data` around the reply.
    ///
    /// - Parameters:
    ///   - message: The member `message`.
    ///   - cacheControl: The value of `Cache-Control`.
    static func success(_ message: String, _ summary: String, cacheControl: String? = nil, example: JSONValue? = nil) -> APIResult {
        APIResult(replies: [.success(Value.schema, summary, example: example)]) { value, _ in
            Answer.success(message, data: value.json).cached(cacheControl)
        }
    }

    /// The reply without an envelope.
    static func bare(_ summary: String, cacheControl: String? = nil, example: JSONValue? = nil) -> APIResult {
        APIResult(replies: [.bare(Value.schema, summary, example: example)]) { value, _ in Answer.json(value.json).cached(cacheControl) }
    }
}

extension APIResult<Void> {
    /// 204, without a body.
    static func noContent(_ summary: String) -> APIResult {
        APIResult(replies: [.noContent(summary)]) { _, _ in Response(status: .noContent) }
    }

    /// The envelope `success`, `code`, `message`, `data` without data.
    static func success(_ message: String, _ summary: String) -> APIResult {
        APIResult(replies: [.success(.null, summary)]) { _, _ in Answer.success(message, data: .null) }
    }
}

extension APIResult<Response> {
    /// The response that the handler makes itself, because it streams the body, or because the answer to the first attempt is kept.
    static func response(_ replies: APIReply...) -> APIResult { APIResult(replies: replies) { response, _ in response } }
}

/// A reply that a repeated request gets again.
struct APIRepeatable<Value: Sendable>: Sendable {
    let value: Value
    /// Whether an earlier request has caused it.
    let isReplay: Bool
}

extension APIResult {
    /// The same reply, with `Idempotent-Replayed` for a repeated request.
    static func repeatable<Inner>(_ inner: APIResult<Inner>) -> APIResult where Value == APIRepeatable<Inner> {
        let replies = inner.replies.map { reply in
            var reply = reply
            reply.headers.append(.idempotentReplayed)
            return reply
        }
        return APIResult(replies: replies) { reply, context in
            var response = inner.response(reply.value, context)
            if reply.isReplay { response.headers[.idempotentReplayed] = "true" }
            return response
        }
    }

    /// A page of a list, under a name, with the position of the next page.
    static func page<Element: APIValue>(_ summary: String, of name: String) -> APIResult where Value == ListPage<Element> {
        let schema = JSONSchema.object([(name, .array(of: Element.schema)), ("next_cursor", ListCursor?.schema)], optional: [])
        return APIResult(replies: [.data(schema, summary)]) { page, context in
            let data = JSONValue.members((name, page.elements.json), ("next_cursor", page.next.json))
            return Answer.json(Answer.data(data, context.requestID)).cached("private, no-cache")
        }
    }
}

/// A reply of one of two types.
enum APIEither<First: Sendable, Second: Sendable>: Sendable {
    case first(First)
    case second(Second)
}

extension APIResult {
    /// One of two replies, each with its status.
    static func either<First, Second>(_ first: APIResult<First>, _ second: APIResult<Second>) -> APIResult
    where Value == APIEither<First, Second> {
        APIResult(replies: first.replies + second.replies) { value, context in
            switch value {
            case .first(let value): first.response(value, context)
            case .second(let value): second.response(value, context)
            }
        }
    }
}

extension Response {
    /// Returns the response with a `Cache-Control`.
    fileprivate func cached(_ cacheControl: String?) -> Response {
        guard let cacheControl else { return self }
        var response = self
        response.headers[.cacheControl] = cacheControl
        return response
    }
}
