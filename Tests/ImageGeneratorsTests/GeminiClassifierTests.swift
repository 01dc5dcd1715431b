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
}
