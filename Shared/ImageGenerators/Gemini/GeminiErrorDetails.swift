internal import JSON

/// The details of an error response from Google, parsed leniently: any part may be missing.
struct GeminiErrorDetails {
    /// The canonical status, such as `RESOURCE_EXHAUSTED`.
    private(set) var status: String?
    /// The reason of an ErrorInfo, such as `API_KEY_INVALID`.
    private(set) var reason: String?
    /// The wait given by RetryInfo.
    private(set) var retryDelay: Duration?
    /// Whether one of the exceeded limits is a daily quota.
    private(set) var isDailyQuota = false

    /// Maximum size of a body that is parsed, in bytes.
    private static let maxBodyByteCount = 256 * 1024

    /// Parses a body; all properties stay empty if it has another format.
    init(_ body: [UInt8]) {
        guard body.count <= Self.maxBodyByteCount, let root = try? JSONValue(parsing: body, limits: .gemini) else { return }
        // Some front ends wrap the envelope in an array, as in streams.
        guard let error = (root[0] ?? root)["error"] else { return }
        status = error["status"]?.string
        for detail in error["details"]?.elements ?? [] {
            switch detail["@type"]?.string?.split(separator: ".").last {
            case "RetryInfo": retryDelay = retryDelay ?? detail.either("retryDelay")?.string.flatMap(Self.duration)
            case "QuotaFailure":
                let violations = detail["violations"]?.elements ?? []
                if violations.contains(where: Self.namesDay) { isDailyQuota = true }
            case "ErrorInfo":
                reason = reason ?? detail["reason"]?.string
                if detail["metadata"].map(Self.namesDay) == true { isDailyQuota = true }
            default: break
            }
        }
    }

    /// Returns whether a member is the name of a daily quota: `GenerateRequestsPerDayPerProjectPerModel`, `…_requests_per_model_per_day`.
    private static func namesDay(_ object: JSONValue) -> Bool {
        (object.members ?? []).contains { member in
            member.value.string?.lowercased().filter { $0 != "_" && $0 != " " }.contains("perday") == true
        }
    }

    /// Parses a duration of protocol buffers, such as `36.5s`.
    private static func duration(_ text: String) -> Duration? {
        guard text.hasSuffix("s"), let seconds = Double(text.dropLast()), seconds.isFinite, seconds >= 0 else { return nil }
        // A `Duration` of more than some 10^20 seconds traps.
        return .seconds(min(seconds, GeminiClassifier.maxRetryAfter / .seconds(1)))
    }
}

extension JSONLimits {
    /// The limits of an answer of Gemini: a real one has a few dozen values, and its pictures are not copied into a `String`.
    static let gemini = JSONLimits(maxDepth: 64, maxValues: 20_000, maxStringBytes: 512, isLenient: true)
}
