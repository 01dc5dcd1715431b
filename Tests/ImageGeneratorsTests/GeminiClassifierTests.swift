import Foundation
import HTTPClient
import Testing

@testable import ImageGenerators

@Suite struct GeminiClassifierTests {
    @Test(arguments: [
        "\"text\":\"two\nlines\",", "\"text\":\"\\ud800\",", "\"text\":\"a\",\"text\":\"b\",", "\"score\":1e999,",
    ])
    func `a picture that was paid for is taken although a value beside it is malformed`(beside: String) throws {
        let part = "{\(beside)\"inlineData\":{\"mimeType\":\"image/png\",\"data\":\"iVBORw==\"}}"
        let body = Array("{\"candidates\":[{\"content\":{\"parts\":[\(part)]}}]}".utf8)
        let answer = try GeminiClassifier.picture(in: HTTPClientResponse(status: 200, body: body), now: Date())
        #expect(answer.bytes == [0x89, 0x50, 0x4E, 0x47])
    }

    @Test(arguments: [("1e300s", 86_400), ("86401s", 86_400), ("0s", 0), ("-1s", 30), ("infs", 30), ("nans", 30)])
    func `a wait of any length is accepted, and limited to a day`(delay: String, seconds: Int) {
        let detail = "{\"@type\":\"type.googleapis.com/google.rpc.RetryInfo\",\"retryDelay\":\"\(delay)\"}"
        let response = HTTPClientResponse(status: 429, body: Array("{\"error\":{\"details\":[\(detail)]}}".utf8))
        #expect {
            try GeminiClassifier.picture(in: response, now: Date())
        } throws: { ($0 as? GenerationError)?.code == .rateLimited(retryAfter: .seconds(seconds)) }
    }
}
