internal import HTTPTypes
internal import JSON

/// A refused request: the error for the client, and details for the log only.
struct APIError: Error, CustomStringConvertible {
    /// The published code.
    let code: ErrorCode
    /// One sentence for the client, without any content of the request.
    let message: String
    /// The faulty field of the request.
    let field: String?
    /// Seconds after which the client may try again.
    let retryAfter: Int?
    /// The attempts left, where the number of attempts is limited.
    var attemptsLeft: Int?
    /// The cause, for the log; never sent.
    let underlying: (any Error)?
    /// The response's status if it differs from the code's.
    var status: HTTPResponse.Status?
    /// Additional members of `error` in the response, for details that the code does not tell.
    var members: [JSONValue.Member] = []
    /// Additional headers of the response.
    var headers: HTTPFields = [:]

    init(
        _ code: ErrorCode, _ message: String, field: String? = nil, retryAfter: Int? = nil, underlying: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.field = field
        self.retryAfter = retryAfter
        self.underlying = underlying
    }

    /// For the log: the code, the field and the cause.
    var description: String {
        let cause = underlying.map { ", because of \($0)" } ?? ""
        return "\(code.rawValue)\(field.map { " (\($0))" } ?? ""): \(message)\(cause)"
    }

    static let `internal` = APIError(.internal, "Something went wrong on our side")

    static func unauthorized(_ message: String) -> APIError {
        var error = APIError(.unauthorized, message)
        error.headers[.wwwAuthenticate] = "Bearer"
        return error
    }

    static func overloaded(_ message: String) -> APIError { APIError(.overloaded, message, retryAfter: 2) }

    static func unavailable(_ message: String, underlying: (any Error)? = nil) -> APIError {
        APIError(.unavailable, message, retryAfter: 2, underlying: underlying)
    }
}
