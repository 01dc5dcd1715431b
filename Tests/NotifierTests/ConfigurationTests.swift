import HeliographCrypto
import ServiceDefaults
import Testing
import TestSupport

@testable import Notifier

@Suite struct ConfigurationTests {
    @Test func `a missing key file is named`() {
        let error = #expect(throws: ConfigurationError.self) {
            try NotifierConfiguration(Settings(environment: [:]))
        }
        #expect(error?.name == "GOOGLE_APPLICATION_CREDENTIALS")
    }

    @Test func `a key file that is not there is named`() {
        let error = #expect(throws: ConfigurationError.self) {
            try NotifierConfiguration(Settings(environment: ["GOOGLE_APPLICATION_CREDENTIALS": "/nonexistent/key.json"]))
        }
        #expect(error?.name == "GOOGLE_APPLICATION_CREDENTIALS")
    }

    @Test func `without a key file the project has to be named`() throws {
        let error = #expect(throws: ConfigurationError.self) {
            try NotifierConfiguration(Settings(environment: ["FCM_CREDENTIALS": "metadata"]))
        }
        #expect(error?.name == "GOOGLE_CLOUD_PROJECT")
        let unknown = #expect(throws: ConfigurationError.self) {
            try NotifierConfiguration(Settings(environment: ["FCM_CREDENTIALS": "gcloud"]))
        }
        #expect(unknown?.name == "FCM_CREDENTIALS")
    }

    @Test func `a service with a metadata server elsewhere does not start`() async throws {
        await #expect(throws: ConfigurationError.self) {
            try await NotifierFixture.with(settings: [
                "FCM_CREDENTIALS": "metadata", "GOOGLE_CLOUD_PROJECT": "demo-project", "GCE_METADATA_HOST": "evil.example",
            ]) { _ in }
        }
    }

    @Test func `a service with an FCM address over plain HTTP elsewhere does not start`() async throws {
        await #expect(throws: ConfigurationError.self) {
            try await NotifierFixture.with(settings: ["FCM_BASE_URL": "http://fcm.example.org"]) { _ in }
        }
    }

    @Test(arguments: ["0", "21", "x"])
    func `attempts out of range are refused`(attempts: String) async throws {
        await #expect(throws: ConfigurationError.self) {
            try await NotifierFixture.with(settings: ["NOTIFY_MAX_ATTEMPTS": attempts]) { _ in }
        }
    }
}
