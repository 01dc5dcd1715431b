import FCMEmulator
import JSON

/// A refusal of `generateContent`.
typealias GeminiRefusal = GoogleError

extension GeminiRefusal {
    // MARK: The caller

    static let keyMissing = GeminiRefusal(
        code: 403, status: "PERMISSION_DENIED",
        message: "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or "
            + "other form of API consumer identity to call this API.")

    /// Google quotes the key as well, in the last detail.
    static func keyInvalid(_ key: String) -> GeminiRefusal {
        let sentence: JSONValue = "API key not valid. Please pass a valid API key."
        return GeminiRefusal(
            code: 400, status: "INVALID_ARGUMENT", message: sentence.string ?? "",
            details: [
                errorInfo("API_KEY_INVALID", ["service": "generativelanguage.googleapis.com"]),
                ["@type": "type.googleapis.com/google.rpc.LocalizedMessage", "locale": "en-US", "message": sentence],
                ["@type": "type.googleapis.com/google.rpc.DebugInfo", "detail": "Invalid API key: \(key)"],
            ])
    }

    // MARK: The request

    static func modelNotFound(_ model: String) -> GeminiRefusal {
        GeminiRefusal(
            code: 404, status: "NOT_FOUND",
            message: "models/\(model) is not found for API version v1beta, or is not supported for generateContent. Call "
                + "ListModels to see the list of available models and their supported methods.")
    }

    static func tooLarge(limit: Int) -> GeminiRefusal {
        invalid("Request payload size exceeds the limit: \(limit) bytes.")
    }

    static func invalid(_ message: String) -> GeminiRefusal {
        GeminiRefusal(code: 400, status: "INVALID_ARGUMENT", message: message)
    }

    /// A body that does not fit the schema.
    static func field(_ path: String, _ message: String) -> GeminiRefusal {
        GeminiRefusal(code: 400, status: "INVALID_ARGUMENT", message: message, details: [badRequest([(path, message)])])
    }

    // MARK: Quotas and failures

    static func rateLimited(model: String, retrySeconds: Double?) -> GeminiRefusal {
        quota(
            model: model, retrySeconds: retrySeconds,
            limits: [("generate_content_paid_tier_requests", "GenerateRequestsPerMinutePerProjectPerModel")])
    }

    static func dailyQuota(model: String) -> GeminiRefusal {
        quota(
            model: model, retrySeconds: 36.25,
            limits: [
                ("generate_content_paid_tier_requests", "GenerateRequestsPerMinutePerProjectPerModel"),
                ("generate_requests_per_model_per_day", "GenerateRequestsPerDayPerProjectPerModel"),
            ])
    }

    private static func quota(model: String, retrySeconds: Double?, limits: [(metric: String, id: String)]) -> GeminiRefusal {
        let violations = limits.map { limit -> JSONValue in
            [
                "quotaMetric": "generativelanguage.googleapis.com/\(limit.metric)", "quotaId": .string(limit.id),
                "quotaDimensions": ["location": "global", "model": .string(model)],
            ]
        }
        var details: [JSONValue] = [
            ["@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": .array(violations)],
            [
                "@type": "type.googleapis.com/google.rpc.Help",
                "links": [
                    [
                        "description": "Learn more about Gemini API quotas",
                        "url": "https://ai.google.dev/gemini-api/docs/rate-limits",
                    ]
                ],
            ],
        ]
        if let retrySeconds {
            details.append(["@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "\(retrySeconds)s"])
        }
        return GeminiRefusal(
            code: 429, status: "RESOURCE_EXHAUSTED",
            message: "You exceeded your current quota, please check your plan and billing details.", details: details)
    }

    static func failure(status: Int) -> GeminiRefusal {
        switch status {
        case 408, 504:
            GeminiRefusal(
                code: status, status: "DEADLINE_EXCEEDED", message: "Deadline expired before operation could complete.")
        case 503:
            GeminiRefusal(
                code: 503, status: "UNAVAILABLE", message: "The model is overloaded. Please try again later.")
        case 400..<500: GeminiRefusal(code: status, status: "FAILED_PRECONDITION", message: "The request was refused.")
        default:
            GeminiRefusal(
                code: status, status: "INTERNAL", message: "An internal error has occurred. Please retry or report it.")
        }
    }
}
