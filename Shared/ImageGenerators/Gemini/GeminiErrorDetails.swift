/// What a refusal of Google's says of itself, read leniently: any part may be missing.
struct GeminiErrorDetails {
    /// The canonical status, such as `RESOURCE_EXHAUSTED`.
    private(set) var status: String?
    /// The reason of an ErrorInfo, such as `API_KEY_INVALID`.
    private(set) var reason: String?
    /// How long to wait, as RetryInfo says.
    private(set) var retryDelay: Duration?
    /// Whether one of the limits that were exceeded is that of a day.
    private(set) var isDailyQuota = false

    /// The longest body that is looked into, in bytes.
    private static let bodyByteCountMax = 256 * 1024

    /// Reads a body, of whatever kind.
    init(_ body: [UInt8]) {
        guard body.count <= Self.bodyByteCountMax, let root = JSONDocument(body)?.root else { return }
        // Some front ends put the envelope in an array, as streams have it.
        guard let error = (root.elements.first ?? root)["error"] else { return }
        status = error["status"]?.text()
        for detail in error["details"]?.elements ?? [] {
            switch detail["@type"]?.text()?.split(separator: ".").last {
            case "RetryInfo": retryDelay = retryDelay ?? detail["retryDelay"]?.text().flatMap(Self.duration)
            case "QuotaFailure":
                let violations = detail["violations"]?.elements ?? []
                if violations.flatMap(\.values).contains(where: Self.namesDay) { isDailyQuota = true }
            case "ErrorInfo":
                reason = reason ?? detail["reason"]?.text()
                if (detail["metadata"]?.values ?? []).contains(where: Self.namesDay) { isDailyQuota = true }
            default: break
            }
        }
    }

    /// Whether a limit's name is that of a day: `GenerateRequestsPerDayPerProjectPerModel`, `…_requests_per_model_per_day`.
    private static func namesDay(_ value: JSONDocument.Value) -> Bool {
        value.text().map { $0.lowercased().filter { $0 != "_" && $0 != " " }.contains("perday") } ?? false
    }

    /// Reads a duration of protocol buffers, such as `36.5s`.
    private static func duration(_ text: String) -> Duration? {
        guard text.hasSuffix("s"), let seconds = Double(text.dropLast()), seconds.isFinite, seconds >= 0 else { return nil }
        return min(.seconds(seconds), GeminiClassifier.retryAfterMax)
    }
}
