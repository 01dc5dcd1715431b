import Foundation
import GeminiEmulator
import HTTPClient
import ImageGenerators
import Logging
import TestSupport
import Testing

/// Tests of the classification of answers without a picture.
@Suite struct GeminiRefusalTests {
    static let refusals: [(GeminiBehaviour.Effect, GenerationError.Code, isTerminal: Bool)] = [
        (.blocked("SAFETY"), .contentBlocked, true), (.blocked("OTHER"), .contentBlocked, true),
        (.blocked("PROHIBITED_CONTENT"), .contentBlocked, true), (.blocked("IMAGE_SAFETY"), .contentBlocked, true),
        (.finish("SAFETY"), .contentBlocked, true), (.finish("IMAGE_SAFETY"), .contentBlocked, true),
        (.finish("PROHIBITED_CONTENT"), .contentBlocked, true), (.finish("IMAGE_PROHIBITED_CONTENT"), .contentBlocked, true),
        (.finish("RECITATION"), .contentBlocked, true), (.finish("IMAGE_RECITATION"), .contentBlocked, true),
        (.finish("BLOCKLIST"), .contentBlocked, true), (.finish("SPII"), .contentBlocked, true),
        (.finish("NO_IMAGE"), .noImage, false), (.finish("IMAGE_OTHER"), .noImage, false), (.finish("OTHER"), .noImage, false),
        (.finish("STOP"), .noImage, false), (.words, .noImage, false), (.nothing, .noImage, false),
        (.finish("A_REASON_OF_TOMORROW"), .noImage, false), (.finish("MAX_TOKENS"), .invalidRequest, true),
        (.rateLimited(retrySeconds: 12.5), .rateLimited(retryAfter: .milliseconds(12_500)), false),
        (.rateLimited(retrySeconds: nil), .rateLimited(retryAfter: .seconds(30)), false),
        (.failure(status: 408), .unavailable(retryAfter: nil), false), (.failure(status: 500), .unavailable(retryAfter: nil), false),
        (.failure(status: 503, retryAfter: "7"), .unavailable(retryAfter: .seconds(7)), false),
        (.failure(status: 504), .unavailable(retryAfter: nil), false), (.html(status: 502), .unavailable(retryAfter: nil), false),
        (.failure(status: 400), .invalidRequest, true), (.failure(status: 403), .unauthorised, true),
        (.failure(status: 401), .unauthorised, true), (.html(status: 404), .invalidRequest, true),
        (.garbage, .unavailable(retryAfter: nil), false), (.cut, .unavailable(retryAfter: nil), false),
        (.cutMidway, .unavailable(retryAfter: nil), false),
    ]

    @Test(arguments: refusals)
    func `a refusal is classified and not retried`(
        effect: GeminiBehaviour.Effect, code: GenerationError.Code, isTerminal: Bool
    ) async throws {
        try await GeminiFixture.with { fixture in
            fixture.emulator.add(GeminiBehaviour(effect))
            let error = await fixture.failure()
            #expect(error?.code == code)
            #expect(error?.isTerminal == isTerminal)
            #expect(fixture.emulator.calls.count == 1)
        }
    }

    @Test func `an unknown model and a wrong key are terminal`() async throws {
        try await GeminiFixture.with(configure: { $0.model = "gemini-1.0-none" }) { fixture in
            #expect(await fixture.failure()?.code == .invalidRequest)
        }
        try await GeminiFixture.with(configure: { $0.apiKey = "AIza-secret-of-ours" }) { fixture in
            #expect(await fixture.failure()?.code == .unauthorised)
        }
    }

    @Test func `no error shows the key or the prompt, though the answer quotes the key`() async throws {
        try await GeminiFixture.with(configure: { $0.apiKey = "AIza-secret-of-ours" }) { fixture in
            let error = try #require(await fixture.failure())
            var dumped = ""
            dump(error, to: &dumped)
            for text in [error.description, error.message, dumped] {
                #expect(!text.contains("AIza"))
                #expect(!text.contains("watercolor"))
            }
        }
    }

    @Test func `a picture that the model rejects is an invalid request`() async throws {
        try await GeminiFixture.with { fixture in
            #expect(await fixture.failure(GeminiFixture.request(picture: [1, 2, 3]))?.code == .invalidRequest)
        }
    }

    @Test func `a request above Google's size limit is not sent`() async throws {
        try await GeminiFixture.with { fixture in
            let large = [UInt8](repeating: 0xFF, count: 15_100_000)
            #expect(await fixture.failure(GeminiFixture.request(picture: large))?.code == .invalidRequest)
            #expect(fixture.emulator.calls.isEmpty)
        }
    }

    @Test func `a picture or an answer above the limits is refused`() async throws {
        try await GeminiFixture.with { fixture in
            for byteCount in [GeminiConfiguration.maxImageByteCount + 10, GeminiConfiguration.maxResponseByteCount] {
                fixture.emulator.add(GeminiBehaviour(.huge(byteCount: byteCount)))
                #expect(await fixture.failure()?.code == .badPicture)
            }
        }
    }

    @Test func `the deadline ends a call`() async throws {
        try await GeminiFixture.with { fixture in
            fixture.emulator.add(GeminiBehaviour(.hang))
            #expect(await fixture.failure(GeminiFixture.request(within: 2))?.code == .timeout)
        }
    }

    @Test func `no call is made after the deadline`() async throws {
        try await GeminiFixture.with { fixture in
            #expect(await fixture.failure(GeminiFixture.request(within: -1))?.code == .timeout)
            #expect(fixture.emulator.calls.isEmpty)
        }
    }

    @Test func `a call that times out before the job's deadline is unavailable`() async throws {
        try await GeminiFixture.with(configure: { $0.timeout = .seconds(2) }) { fixture in
            fixture.emulator.add(GeminiBehaviour(.hang))
            #expect(await fixture.failure()?.code == .unavailable(retryAfter: nil))
        }
    }

    @Test func `a cancelled task stops waiting at once`() async throws {
        try await GeminiFixture.with { fixture in
            fixture.emulator.add(GeminiBehaviour(.hang))
            let task = Task { await fixture.failure() }
            try await eventually("the call arrives", isTrue: { fixture.emulator.calls.count == 1 })
            task.cancel()
            #expect(await task.value?.code == .cancelled)
        }
    }

    @Test func `an unreachable Gemini is unavailable`() async throws {
        let port = try FreePort.find()
        try await GeminiFixture.with(configure: { $0.baseURL = "http://127.0.0.1:\(port)" }) { fixture in
            #expect(await fixture.failure()?.code == .unavailable(retryAfter: nil))
        }
    }

    @Test(arguments: ["", "models/x", "a b", "../x", "x:y", String(repeating: "x", count: 65)])
    func `an invalid model name is refused before a call is made`(model: String) {
        #expect(creationFailure(GeminiConfiguration(apiKey: "k", model: model)) == .invalidRequest)
    }

    @Test func `a key is sent over TLS or to this machine only`() {
        var configuration = GeminiConfiguration(apiKey: "k", model: "m")
        configuration.baseURL = "http://gemini.example"
        #expect(creationFailure(configuration) == .invalidRequest)
        configuration.baseURL = "https://gemini.example/"
        #expect(creationFailure(configuration) == nil)
        configuration.apiKey = "k\r\nx: y"
        #expect(creationFailure(configuration) == .unauthorised)
    }

    private func creationFailure(_ configuration: GeminiConfiguration) -> GenerationError.Code? {
        let http = HTTPClient(configuration: configuration.httpClient, logger: Logger(label: "test"))
        do throws(GenerationError) {
            _ = try GeminiGenerator(configuration: configuration, http: http, logger: Logger(label: "test"))
            return nil
        } catch {
            return error.code
        }
    }
}
