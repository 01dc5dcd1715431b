package import JSON

/// A refusal by one of Google's APIs: an HTTP status and their error envelope.
package struct GoogleError: Error, Equatable {
    /// The HTTP status.
    package var code: Int
    /// The canonical status, such as `INVALID_ARGUMENT`.
    package var status: String
    /// The human-readable message.
    package var message: String
    /// The typed details, in order; nil leaves the member out.
    package var details: [JSONValue]?
    /// The `Retry-After` header, in seconds; nil leaves it out.
    var retryAfterSeconds: Double?

    /// Creates a refusal.
    package init(code: Int, status: String, message: String, details: [JSONValue]? = nil) {
        self.code = code
        self.status = status
        self.message = message
        self.details = details
    }

    /// The body of the answer.
    package var body: JSONValue {
        var error: JSONValue = [:]
        error["code"] = .integer(code)
        error["message"] = .string(message)
        error["status"] = .string(status)
        if let details { error["details"] = .array(details) }
        return ["error": error]
    }

    // MARK: Details

    /// The reason of a refusal, in the domain of Google's APIs.
    package static func errorInfo(_ reason: String, _ metadata: JSONValue) -> JSONValue {
        [
            "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": .string(reason), "domain": "googleapis.com",
            "metadata": metadata,
        ]
    }

    /// The faults of fields; the path of a fault of the request itself is empty.
    package static func badRequest(_ violations: [(field: String, description: String)]) -> JSONValue {
        var detail: JSONValue = [:]
        detail["@type"] = "type.googleapis.com/google.rpc.BadRequest"
        let list = violations.map { field, description -> JSONValue in
            field.isEmpty
                ? ["description": .string(description)] : ["field": .string(field), "description": .string(description)]
        }
        if !list.isEmpty { detail["fieldViolations"] = .array(list) }
        return detail
    }
}
