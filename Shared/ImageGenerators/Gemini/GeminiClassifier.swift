internal import FoundationEssentials
internal import HTTPClient
internal import HeliographCrypto
internal import JSON

/// Extracts the picture from an answer of Gemini, or classifies the answer as a ``GenerationError``.
///
/// Google's error messages are never passed on: one of them names the API key, and others quote the prompt.
enum GeminiClassifier {
    /// The wait after a rate limit when Google's response has no wait.
    static let rateLimitDefaultWait: Duration = .seconds(30)
    /// Upper limit of the wait that Google may ask for.
    static let maxRetryAfter: Duration = .seconds(86_400)

    /// The finish reasons that are permanent refusals of this picture and prompt.
    private static let refusals: Set = [
        "SAFETY", "IMAGE_SAFETY", "PROHIBITED_CONTENT", "IMAGE_PROHIBITED_CONTENT", "RECITATION", "IMAGE_RECITATION",
        "BLOCKLIST", "SPII",
    ]

    struct Answer: Sendable {
        let bytes: [UInt8]
        /// The name of the model in the answer.
        let modelVersion: String?
    }

    /// Returns the picture of an answer.
    static func picture(in response: HTTPClientResponse, now: Date) throws(GenerationError) -> Answer {
        guard response.status == 200 else { throw refusal(response, now: now) }
        guard let root = try? JSONValue(parsing: response.body, limits: .gemini) else {
            throw GenerationError(.unavailable(retryAfter: nil), "the answer of \(response.body.count) bytes is not JSON")
        }
        let candidates = root["candidates"]?.elements ?? []
        let reasons = candidates.map { $0.either("finishReason")?.string ?? "" }
        // Drafts that are not marked as thoughts precede the final picture, so the last one is taken.
        let pictures = zip(candidates, reasons).filter { !refusals.contains($0.1) }.flatMap { Self.pictures(of: $0.0) }
        if let data = pictures.last {
            return Answer(bytes: try decoded(data), modelVersion: root.either("modelVersion")?.string)
        }
        throw error(forAnswerWithoutPicture: root, reasons)
    }

    /// Returns the base64 texts of a candidate's pictures, except those of thoughts.
    private static func pictures(of candidate: JSONValue) -> [JSONValue] {
        (candidate["content"]?["parts"]?.elements ?? []).compactMap { part in
            guard part["thought"] != true, let blob = part.either("inlineData"),
                blob.either("mimeType")?.string?.hasPrefix("image/") == true
            else { return nil }
            return blob["data"]
        }
    }

    private static func decoded(_ data: JSONValue) throws(GenerationError) -> [UInt8] {
        var isTooBig = false
        let bytes = data.withUTF8 { text in
            isTooBig = text.count / 4 * 3 > GeminiConfiguration.maxImageByteCount
            return isTooBig ? nil : Base64.decode(text)
        }
        guard !isTooBig else {
            throw GenerationError(.badPicture, "the picture has more than \(GeminiConfiguration.maxImageByteCount) bytes")
        }
        guard let bytes, !bytes.isEmpty else {
            throw GenerationError(.unavailable(retryAfter: nil), "the picture in the answer is not base64")
        }
        return bytes
    }

    private static func error(
        forAnswerWithoutPicture root: JSONValue, _ reasons: [String]
    ) -> GenerationError {
        if let reason = root.either("promptFeedback")?.either("blockReason")?.string, reason != "BLOCK_REASON_UNSPECIFIED" {
            return GenerationError(.contentBlocked, "the prompt or the picture was refused: \(word(reason))")
        }
        if let reason = reasons.first(where: refusals.contains) {
            return GenerationError(.contentBlocked, "the result was refused: \(word(reason))")
        }
        if reasons.contains("MAX_TOKENS") {
            return GenerationError(.invalidRequest, "the model ran out of tokens before there was a picture")
        }
        return GenerationError(.noImage, "no picture in the answer: \(word(reasons.first ?? "no candidate"))")
    }

    // MARK: Refusals by status

    private static func refusal(_ response: HTTPClientResponse, now: Date) -> GenerationError {
        let details = GeminiErrorDetails(response.body)
        let wait = details.retryDelay ?? response.retryAfter(now: now, max: maxRetryAfter)
        let message =
            "HTTP \(response.status) \(word(details.status ?? "without an error envelope"))"
            + (details.reason.map { ", \(word($0))" } ?? "")
        let code: GenerationError.Code =
            switch response.status {
            case 429 where details.isDailyQuota: .quotaExhausted(until: reset(after: now, wait))
            case 429: .rateLimited(retryAfter: wait ?? rateLimitDefaultWait)
            case 408, 500...: .unavailable(retryAfter: wait)
            case 401, 403: .unauthorised
            case 400 where details.reason == "API_KEY_INVALID": .unauthorised
            default: .invalidRequest
            }
        // An error status means that the model did no work, so the call is free.
        return GenerationError(code, message, isFree: true)
    }

    /// Returns when a daily quota resets. Google's own wait belongs to the exceeded limit that ends first, and is often less than a minute,
    /// so it is used only if it is at least an hour.
    private static func reset(after now: Date, _ wait: Duration?) -> Date {
        guard let wait, wait >= .seconds(3600) else { return QuotaBreaker.nextReset(after: now) }
        return now.addingTimeInterval(TimeInterval(wait.components.seconds))
    }

    /// Converts the error of a call without an answer.
    ///
    /// - Parameter isDeadline: Whether the timeout of the call was the job's deadline.
    static func generationError(for error: HTTPClientError, isDeadline: Bool) -> GenerationError {
        switch error.code {
        case .cancelled:
            GenerationError(.cancelled, "the task was cancelled", isFree: !error.mayHaveReachedServer, underlying: error)
        case .invalidRequest: GenerationError(.invalidRequest, "the call cannot be made", underlying: error)
        case .responseTooLarge:
            GenerationError(.badPicture, "the answer has more than \(GeminiConfiguration.maxResponseByteCount) bytes")
        case .timeout where isDeadline: GenerationError(.timeout, "no answer before the deadline", underlying: error)
        default:
            GenerationError(
                .unavailable(retryAfter: nil), "no answer", isFree: !error.mayHaveReachedServer, underlying: error)
        }
    }

    /// Shortens a text from outside and replaces unusual characters, because it is logged.
    private static func word(_ text: String) -> String {
        String(text.prefix(64).map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == " ") ? $0 : "?" })
    }
}
