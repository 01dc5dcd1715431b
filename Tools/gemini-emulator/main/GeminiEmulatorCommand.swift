import ArgumentParser
import BuildVersion
import FCMEmulator
import GeminiEmulator
import Logging
import ServiceLifecycle
import UnixSignals

@main
struct GeminiEmulatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gemini-emulator",
        abstract: "A development stand-in for Google's Gemini image models.",
        discussion: """
            Answers POST /v1beta/models/{model}:generateContent, refusing what Google refuses in Google's words. Point \
            image-worker at it:
              IMAGE_GENERATOR=gemini  GEMINI_BASE_URL=http://localhost:9081  GEMINI_API_KEY=gemini-emulator-key
              GEMINI_MODEL=gemini-2.5-flash-image

            Or, with curl:
              curl localhost:9081/control/calls                              what was asked, and what of it was paid for
              curl -X DELETE localhost:9081/control/calls                    forget that
              curl -d '{"effect":"finish","reason":"NO_IMAGE","count":2}' localhost:9081/control/behaviours
              curl -X DELETE localhost:9081/control/behaviours               all is well again
            Effects: picture, snake_case, thought, words, finish (reason), blocked (reason), nothing, rate_limited (retry_seconds), \
            daily_quota, failure (status, retry_after), html (status), hang, cut, cut_midway, huge (bytes), garbage; \
            with each: count (0: until removed), latency_ms, prompt_contains.
            """, version: HeliographVersion.current)

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen on.")
    var port = 9081

    @Option(help: "The API key it knows.")
    var apiKey = "gemini-emulator-key"

    @Option(parsing: .upToNextOption, help: "The models it knows (default: those of Google's documentation).")
    var models: [String] = []

    @Option(help: "Pixels of the longer side of the pictures it makes.")
    var pictureSide = 1024

    func run() async throws {
        var configuration = GeminiEmulatorConfiguration()
        configuration.host = host
        configuration.port = port
        configuration.apiKeys = [apiKey]
        if !models.isEmpty { configuration.models = Set(models) }
        configuration.pictureSide = min(max(pictureSide, 16), 4096)
        let logger = Logger(label: "gemini-emulator")
        let group = ServiceGroup(
            configuration: .init(
                services: [GeminiEmulator(configuration: configuration, logger: logger)],
                gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        do {
            try await group.run()
        } catch let error as EmulatorError {
            throw ValidationError(error.description)
        }
    }
}
