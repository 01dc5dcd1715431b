import FCM
import Foundation
import HTTPClient
import HeliographCrypto

@testable import ImageGenerators

extension FuzzTarget {
    /// Two bytes for the status, the value of `Retry-After`, a line feed, and the body of an answer of FCM or Gemini.
    static let answers = FuzzTarget(name: "answers") { bytes in
        var input = FuzzInput(bytes)
        let statuses = [200, 400, 401, 403, 404, 429, 500, 503]
        let status = statuses[Int(input.byte()) % statuses.count]
        let response = HTTPClientResponse(status: status, headers: [("Retry-After", input.line())], body: input.bytes)
        let now = Date(timeIntervalSince1970: 1_761_559_200)
        try checkPush(FCMClassifier.classify(response, now: now))
        switch Result(catching: { () throws(GenerationError) in try GeminiClassifier.picture(in: response, now: now) }) {
        case .success(let answer): try require(status == 200 && !answer.bytes.isEmpty, "a picture of an answer without one")
        case .failure(let error): try checkRefusal(error, now)
        }
    }

    /// What is stored and logged of an answer is short and harmless.
    private static func checkPush(_ result: FCMResult) throws {
        try require(isHarmless(result.code), "the code of a push: \(result.code)")
        switch result.outcome {
        case .accepted(let name):
            try require((1...256).contains(name.utf8.count) && name.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "the name of a push")
        case .transient(let wait?), .quota(let wait):
            try require(wait >= .zero && wait <= FCMClassifier.maxRetryAfter, "the wait of a push: \(wait)")
        default:
            break
        }
    }

    private static func checkRefusal(_ error: GenerationError, _ now: Date) throws {
        try require(error.message.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "the message of a refusal: \(error.message)")
        guard let wait = error.retryAfter(now: now) else { return }
        // A daily quota ends within 25 hours, on the longest day of a year.
        try require(wait >= .zero && wait <= .seconds(90_000), "the wait of a refusal: \(wait)")
    }

    private static func isHarmless(_ text: String) -> Bool {
        text.utf8.count <= 64
            && text.utf8.allSatisfy {
                $0 < 0x80 && (Character(Unicode.Scalar($0)).isLetter || (0x30...0x39).contains($0) || "_?".utf8.contains($0))
            }
    }
}
