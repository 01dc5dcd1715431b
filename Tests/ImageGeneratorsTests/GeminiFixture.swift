import Foundation
import GeminiEmulator
import HTTPClient
import ImageGenerators
import ImageProbe
import Imaging
import Logging
import Synchronization

/// An emulator and a generator that calls it.
struct GeminiFixture: Sendable {
    static let key = "gemini-emulator-key"
    static let model = "gemini-2.5-flash-image"

    let emulator: GeminiEmulator
    let generator: GeminiGenerator
    let clock: TestClock

    /// A clock that stands still until it is moved; it begins on 2026-11-21 at 12:00 UTC.
    final class TestClock: Sendable {
        private let time = Mutex(Date(timeIntervalSince1970: 1_795_262_400))
        var now: Date { time.withLock { $0 } }
        func advance(seconds: Double) { time.withLock { $0 = $0.addingTimeInterval(seconds) } }
    }

    static func with<Value>(
        emulator change: (inout GeminiEmulatorConfiguration) -> Void = { _ in },
        configure: (inout GeminiConfiguration) -> Void = { _ in }, _ body: (GeminiFixture) async throws -> Value
    ) async throws -> Value {
        var emulatorConfiguration = GeminiEmulatorConfiguration()
        change(&emulatorConfiguration)
        let emulator = GeminiEmulator(configuration: emulatorConfiguration)
        try await emulator.start()
        var configuration = GeminiConfiguration(apiKey: key, model: model)
        configuration.baseURL = emulator.url
        configure(&configuration)
        var httpConfiguration = configuration.httpClient
        httpConfiguration.shutdownGrace = .zero
        let http = HTTPClient(configuration: httpConfiguration, logger: Logger(label: "test"))
        do {
            let clock = TestClock()
            let generator = try GeminiGenerator(
                configuration: configuration, http: http, logger: Logger(label: "test"), now: { clock.now })
            let value = try await body(GeminiFixture(emulator: emulator, generator: generator, clock: clock))
            await http.shutdown()
            await emulator.stop()
            return value
        } catch {
            await http.shutdown()
            await emulator.stop()
            throw error
        }
    }

    /// The error of a generation, or nil when there is a picture.
    func failure(_ request: GenerationRequest = Self.request()) async -> GenerationError? {
        do throws(GenerationError) {
            _ = try await generator.generate(request)
            return nil
        } catch {
            return error
        }
    }

    static func request(
        picture: [UInt8] = jpeg, width: Int? = nil, height: Int? = nil,
        within seconds: Double = 600, progress: @escaping @Sendable (Int) -> Void = { _ in }
    ) -> GenerationRequest {
        GenerationRequest(
            jobID: UUID(),
            template: GenerationTemplate(
                id: "watercolor", name: "Watercolor", prompt: "Paint this \"photo\" as a watercolor.\nKeep the faces.",
                style: .watercolor),
            picture: EncodedPicture(bytes: picture, format: .jpeg, width: 640, height: 480), width: width, height: height,
            quality: .medium, deadline: .now + .seconds(seconds), progress: progress)
    }

    /// Bytes that begin like a JPEG file; the rest is never parsed.
    static let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0] + (0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 37) }
}
