import ServiceDefaults
import TestSupport
import Testing

@testable import FaceMatchingWorker

@Suite struct ConfigurationPageTests {
    @Test func `the page has the settings of face-matching-worker`() async throws {
        let tables = try await SettingsRecord.tables([("", ["FACE_MODELS_PATH": "/nowhere"])]) { _ = try FaceMatchingConfiguration($0) }
        #expect(try GeneratedSection("face-matching-worker", of: "docs/CONFIGURATION.md").holds(tables))
    }
}
