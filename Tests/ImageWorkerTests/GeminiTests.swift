import Foundation
import GeminiEmulator
import HTTPClient
import ImageGenerators
import ImageWorker
import Logging
import Pictures
import ServiceDefaults
import TestSupport
import Testing
import WireFormat

/// Tests of the worker as in production, with an emulator of Google's models.
@Suite struct GeminiTests {
    /// Runs `body` with a worker and its own emulator.
    ///
    /// - Parameter now: The generator's clock; with nil the worker creates the generator itself, as in production.
    private func withGemini(
        now: (@Sendable () -> Date)? = nil, _ body: (WorkerFixture, GeminiEmulator) async throws -> Void
    ) async throws {
        let emulator = GeminiEmulator()
        try await emulator.start()
        var configuration = GeminiConfiguration(apiKey: "gemini-emulator-key", model: "gemini-2.5-flash-image")
        configuration.baseURL = emulator.url
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let http = HTTPClient(configuration: configuration.httpClient, logger: logger)
        let generator = try now.map { try GeminiGenerator(configuration: configuration, http: http, logger: logger, now: $0) }
        let settings = [
            "IMAGE_GENERATOR": "gemini", "GEMINI_API_KEY": configuration.apiKey, "GEMINI_MODEL": configuration.model,
            "GEMINI_BASE_URL": configuration.baseURL,
        ]
        let result = await Result.catching {
            try await WorkerFixture.with(generator, settings: settings) { worker in
                try await worker.running { try await body(worker, emulator) }
            }
        }
        await http.shutdown()
        await emulator.stop()
        try result.get()
    }

    @Test func `a graceful stop waits for a paid call and ends within the deployment's stop period`() throws {
        let gemini = GeminiConfiguration(apiKey: "k", model: "m")
        let settings = Settings(environment: [
            "IMAGE_GENERATOR": "gemini", "GEMINI_API_KEY": gemini.apiKey, "GEMINI_MODEL": gemini.model,
        ])
        let limit = try ImageWorker.gracefulShutdownLimit(settings)
        #expect(limit > gemini.timeout && limit < .seconds(200))
        #expect(try ImageWorker.gracefulShutdownLimit(Settings(environment: [:])) == .seconds(25))
    }

    @Test func `a model's picture is finished as requested and paid for once`() async throws {
        try await withGemini { worker, emulator in
            let id = try await worker.submit(template: "watercolor", width: 200, height: 100)
            let job = try await worker.ended(id)
            let result = try #require(job.result)
            #expect(result.width == 200 && result.height == 100 && result.format == "jpeg")
            #expect(result.modelUsed.hasPrefix("gemini-2.5-flash-image"))
            #expect(emulator.paidCounts.values.allSatisfy { $0 == 1 } && emulator.calls.count == 1)
            #expect(emulator.calls[0].prompt.contains("watercolour"))
        }
    }

    @Test(arguments: [GeminiBehaviour.Effect.blocked("SAFETY"), .finish("IMAGE_SAFETY")])
    func `a refusal of the model fails the job with content_blocked without a retry`(
        effect: GeminiBehaviour.Effect
    ) async throws {
        try await withGemini { worker, emulator in
            emulator.add(GeminiBehaviour(effect, count: nil))
            let job = try await worker.ended(try await worker.submit())
            #expect(job.failure?.code == .contentBlocked && emulator.calls.count == 1)
        }
    }

    @Test func `free failures of every kind are retried until a picture is made`() async throws {
        try await withGemini { worker, emulator in
            emulator.add(GeminiBehaviour(.failure(status: 503)))
            emulator.add(GeminiBehaviour(.failure(status: 500, retryAfter: "1")))
            emulator.add(GeminiBehaviour(.rateLimited(retrySeconds: 1)))
            emulator.add(GeminiBehaviour(.html(status: 502)))
            let id = try await worker.submit()
            let job = try await worker.ended(id)
            #expect(job.status == .completed)
            #expect(try await worker.attempts.list(jobID: id).count { $0.outcome == .free } == 4)
            #expect(emulator.calls.count { $0.isPaid } == 1)
        }
    }

    @Test func `an answer without an image is retried and the job completes`() async throws {
        try await withGemini { worker, emulator in
            emulator.add(GeminiBehaviour(.finish("NO_IMAGE"), count: 2))
            let job = try await worker.ended(try await worker.submit())
            #expect(job.status == .completed && emulator.calls.count == 3)
        }
    }

    @Test func `lost answers are paid for at most three times`() async throws {
        try await withGemini { worker, emulator in
            emulator.add(GeminiBehaviour(.cutMidway, count: nil))
            let job = try await worker.ended(try await worker.submit())
            #expect(job.failure?.code == .unavailable && emulator.calls.count { $0.isPaid } == 3)
        }
    }

    @Test func `an exhausted quota fails jobs without a call until it resets`() async throws {
        // The quota of a day is back at 08:00 UTC; a job that is made in the minutes before waits for it.
        let noon = Date(timeIntervalSince1970: 1_795_262_400)
        try await withGemini(now: { noon }) { worker, emulator in
            emulator.add(GeminiBehaviour(.dailyQuota, count: nil))
            for _ in 0..<3 {
                let job = try await worker.ended(try await worker.submit())
                #expect(job.failure?.code == .unavailable)
            }
            #expect(emulator.calls.count == 1)
        }
    }

    @Test func `concurrent jobs are limited by the configured concurrency`() async throws {
        try await withGemini { worker, emulator in
            // The latency makes the first calls overlap, even if the jobs arrive slowly.
            emulator.add(GeminiBehaviour(.picture, count: 4, latency: .seconds(2)))
            emulator.add(GeminiBehaviour(.picture, count: nil, latency: .milliseconds(300)))
            var ids: [UUID] = []
            for _ in 0..<12 { ids.append(try await worker.submit()) }
            for id in ids {
                let job = try await worker.ended(id)
                #expect(job.status == .completed)
            }
            #expect(emulator.maxCallsAtOnce <= 4 && emulator.maxCallsAtOnce >= 2)
        }
    }
}
