import ServiceDefaults
import TestSupport
import Testing

@testable import ImageWorker

@Suite struct ConfigurationPageTests {
    @Test func `the page has the settings of image-worker`() async throws {
        let gemini = ["IMAGE_GENERATOR": "gemini", "GEMINI_API_KEY": "key", "GEMINI_MODEL": "model"]
        let tables = try await SettingsRecord.tables([("", [:]), ("With `IMAGE_GENERATOR=gemini`", gemini)]) {
            _ = try ImageWorkerConfiguration($0)
        }
        #expect(try GeneratedSection("image-worker", of: "docs/CONFIGURATION.md").holds(tables))
    }
}
