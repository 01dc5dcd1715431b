internal import FoundationEssentials
internal import HTTPClient
internal import HeliographCrypto

/// Finds the picture in an answer of Gemini, or says what the answer means instead.
///
/// Google's sentences are never passed on: one of them names the API key, and others quote the prompt.
enum GeminiClassifier {
    /// How long to wait when there were too many calls and Google does not say how long.
    static let rateLimitDefaultWait: Duration = .seconds(30)
    /// The longest wait that is believed.
    static let retryAfterMax: Duration = .seconds(86_400)

    /// The reasons that are refusals: the same picture and prompt will always be refused.
    private static let refusals: Set = [
        "SAFETY", "IMAGE_SAFETY", "PROHIBITED_CONTENT", "IMAGE_PROHIBITED_CONTENT", "RECITATION", "IMAGE_RECITATION",
        "BLOCKLIST", "SPII",
    ]

    struct Answer: Sendable {
        let bytes: [UInt8]
        /// What the answer calls the model.
        let modelVersion: String?
    }

    /// Returns the picture of an answer.
    static func picture(in response: HTTPClientResponse, now: Date) throws(GenerationError) -> Answer {
        guard response.status == 200 else { throw refusal(response, now: now) }
        guard let document = JSONDocument(response.body) else {
            throw GenerationError(.unavailable(retryAfter: nil), "the answer of \(response.body.count) bytes is not JSON")
        }
        let root = document.root
        let candidates = root["candidates"]?.elements ?? []
        let reasons = candidates.map { $0["finishReason"]?.text() ?? "" }
        // Drafts that are not marked as thoughts come before the picture they lead to, so the last one counts.
        let pictures = zip(candidates, reasons).filter { !refusals.contains($0.1) }.flatMap { Self.pictures(of: $0.0) }
        if let data = pictures.last {
            return Answer(bytes: try decoded(data), modelVersion: root["modelVersion"]?.text())
        }
        throw meaning(ofAnswerWithoutPicture: root, reasons)
    }

    /// The base64 texts of a candidate's pictures, thoughts left out.
    private static func pictures(of candidate: JSONDocument.Value) -> [JSONDocument.Value] {
        (candidate["content"]?["parts"]?.elements ?? []).compactMap { part in
            guard part["thought"]?.isTrue != true, let blob = part["inlineData"],
                blob["mimeType"]?.text()?.hasPrefix("image/") == true
            else { return nil }
            return blob["data"]
        }
    }

    private static func decoded(_ data: JSONDocument.Value) throws(GenerationError) -> [UInt8] {
        if case .string(let range, _) = data.node, range.count / 4 * 3 > GeminiConfiguration.imageByteCountMax {
            throw GenerationError(.badPicture, "the picture has more than \(GeminiConfiguration.imageByteCountMax) bytes")
        }
        guard let bytes = data.withText({ Base64.decode($0) }), !bytes.isEmpty else {
            throw GenerationError(.unavailable(retryAfter: nil), "the picture in the answer is not base64")
        }
        return bytes
    }

    private static func meaning(
        ofAnswerWithoutPicture root: JSONDocument.Value, _ reasons: [String]
    ) -> GenerationError {
        if let reason = root["promptFeedback"]?["blockReason"]?.text(), reason != "BLOCK_REASON_UNSPECIFIED" {
            return GenerationError(.contentBlocked, "the prompt or the picture is refused: \(word(reason))")
        }
        if let reason = reasons.first(where: refusals.contains) {
            return GenerationError(.contentBlocked, "the result is refused: \(word(reason))")
        }
        if reasons.contains("MAX_TOKENS") {
            return GenerationError(.invalidRequest, "the model ran out of tokens before there was a picture")
        }
        return GenerationError(.noImage, "no picture in the answer: \(word(reasons.first ?? "no candidate"))")
    }

    // MARK: Refusals by status

    private static func refusal(_ response: HTTPClientResponse, now: Date) -> GenerationError {
        let details = GeminiErrorDetails(response.body)
        let wait = details.retryDelay ?? response.retryAfter(now: now, max: retryAfterMax)
        let message = "HTTP \(response.status) \(word(details.status ?? "without an error envelope"))"
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
        // An answer with a status in place of a picture is one of a model that did no work.
        return GenerationError(code, message, isFree: true)
    }

    /// When a daily quota is back. Google's own wait is that of whatever limit is over first, often less than a minute,
    /// so only a long one is believed.
    private static func reset(after now: Date, _ wait: Duration?) -> Date {
        guard let wait, wait >= .seconds(3600) else { return QuotaBreaker.nextReset(after: now) }
        return now.addingTimeInterval(TimeInterval(wait.components.seconds))
    }

    /// Returns what a call without an answer means.
    ///
    /// - Parameter isDeadline: whether the time it had was all that its job had left.
    static func meaning(of error: HTTPClientError, isDeadline: Bool) -> GenerationError {
        switch error.code {
        case .cancelled:
            GenerationError(.cancelled, "the task was cancelled", isFree: !error.mayHaveReachedServer, underlying: error)
        case .invalidRequest: GenerationError(.invalidRequest, "the call cannot be made", underlying: error)
        case .responseTooLarge:
            GenerationError(.badPicture, "the answer has more than \(GeminiConfiguration.responseByteCountMax) bytes")
        case .timeout where isDeadline: GenerationError(.timeout, "no answer before the deadline", underlying: error)
        default:
            GenerationError(
                .unavailable(retryAfter: nil), "no answer", isFree: !error.mayHaveReachedServer, underlying: error)
        }
    }

    /// Keeps what comes from outside short and harmless, as it is logged.
    private static func word(_ text: String) -> String {
        String(text.prefix(64).map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == " ") ? $0 : "?" })
    }
}
