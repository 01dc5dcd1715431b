internal import Accounts
internal import FoundationEssentials
internal import HTTPTypes
internal import Hummingbird
internal import JSON
internal import NIOCore

/// Builds the bodies of the wire contract.
enum Answer {
    /// `{"success":true,"code":0,"message":…,"data":…}`.
    static func success(_ message: String, data: JSONValue) -> Response { json(successBody(message, data: data)) }

    /// The body of ``success(_:data:)``.
    static func successBody(_ message: String, data: JSONValue) -> JSONValue {
        .members(("success", true), ("code", 0), ("message", .string(message)), ("data", data))
    }

    /// `{"success":true,"data":…,"meta":…}`.
    static func data(_ data: JSONValue, _ requestID: String) -> JSONValue {
        .members(("success", true), ("data", data), ("meta", meta(requestID)))
    }

    /// The `meta` member of a response.
    static func meta(_ requestID: String) -> JSONValue {
        .members(("requestId", .string(requestID)), ("timestamp", .string(timestamp(Date()))))
    }

    /// A response with a JSON body.
    static func json(_ value: JSONValue, status: HTTPResponse.Status = .ok, type: String = "application/json") -> Response {
        let body = ByteBuffer(bytes: value.bytes)
        return Response(
            status: status, headers: [.contentType: type, .contentLength: "\(body.readableBytes)"],
            body: ResponseBody(byteBuffer: body))
    }

    /// The stored answer to the first attempt of a request.
    static func kept(_ answer: IdempotencyAnswer, isReplay: Bool) -> Response {
        let body = ByteBuffer(string: answer.body)
        var response = Response(
            status: HTTPResponse.Status(code: answer.status),
            headers: [.contentType: "application/json", .contentLength: "\(body.readableBytes)"],
            body: ResponseBody(byteBuffer: body))
        if isReplay { response.headers[.idempotentReplayed] = "true" }
        return response
    }

    /// The error envelope, or RFC 9457 problem details for a client that asks for them.
    static func failure(_ error: APIError, requestID: String, asProblem: Bool) -> Response {
        let status = error.status ?? error.code.status
        var response =
            asProblem
            ? json(problem(error, requestID: requestID), status: status, type: "application/problem+json")
            : json(envelope(error, requestID: requestID), status: status)
        for field in error.headers { response.headers[field.name] = field.value }
        if let retryAfter = error.retryAfter { response.headers[.retryAfter] = "\(retryAfter)" }
        return response
    }

    /// An instant in the contract's format: ISO 8601 in UTC, to the second.
    static func timestamp(_ date: Date) -> String { date.formatted(.iso8601) }

    /// The body of an error.
    static func envelope(_ error: APIError, requestID: String) -> JSONValue {
        let fault = JSONValue.members(
            ("code", .string(error.code.rawValue)), ("field", error.field.map(JSONValue.string)),
            ("retryable", .bool(error.code.isRetryable)), ("retry_after", .integer(error.retryAfter ?? 0)),
            ("attempts_left", error.attemptsLeft.map(JSONValue.integer)))
        return .members(
            ("success", false), ("code", .integer(error.code.number)), ("message", .string(error.message)),
            ("error", fault.adding(error.members)), ("data", .null), ("meta", meta(requestID)))
    }

    private static func problem(_ error: APIError, requestID: String) -> JSONValue {
        let status = error.status ?? error.code.status
        let fault = JSONValue.members(
            ("code", .string(error.code.rawValue)), ("field", error.field.map(JSONValue.string)),
            ("detail", .string(error.message)), ("attempts_left", error.attemptsLeft.map(JSONValue.integer))
        ).adding(error.members)
        return .members(
            ("type", .string("urn:heliograph:error:\(error.code.rawValue)")), ("title", .string(status.reasonPhrase)),
            ("status", .integer(status.code)), ("detail", .string(error.message)),
            ("instance", .string("urn:heliograph:request:\(requestID)")), ("code", .integer(error.code.number)),
            ("retryable", .bool(error.code.isRetryable)), ("retry_after", .integer(error.retryAfter ?? 0)),
            ("errors", .array([fault])))
    }
}

extension JSONValue {
    /// Returns an object with members added at its end.
    fileprivate func adding(_ others: [Member]) -> JSONValue { .object((members ?? []) + others) }
}
