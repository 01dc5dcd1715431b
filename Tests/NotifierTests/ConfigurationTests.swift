import Foundation
import HeliographCrypto
import ServiceDefaults
import TestSupport
import Testing

@testable import Notifier

@Suite struct ConfigurationTests {
    @Test func `a missing key file is named`() {
        let error = #expect(throws: ConfigurationError.self) {
            try NotifierConfiguration(Settings(environment: [:]))
        }
        #expect(error?.name == "GOOGLE_APPLICATION_CREDENTIALS")
    }

    /// The `FIREBASE_…` settings, which replace a key file.
    private static func firebaseSettings() throws -> [String: String] {
        let key = try RSAPrivateKey.generate().pem()
        return [
            "FIREBASE_PROJECT_ID": "demo-project", "FIREBASE_CLIENT_EMAIL": "push@demo-project.iam.gserviceaccount.com",
            "FIREBASE_PRIVATE_KEY": key.replacing("\n", with: "\\n"),
        ]
    }

    private static func firebase(_ others: [String: String] = [:]) throws -> Settings {
        Settings(environment: try firebaseSettings().merging(others) { $1 })
    }

    @Test func `the page has the settings of notifier`() async throws {
        let parts = try Self.firebaseSettings()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        let json = """
            {"type": "service_account", "project_id": "p", "private_key_id": "k", "client_email": "e@example.org",
             "private_key": "\(parts["FIREBASE_PRIVATE_KEY"] ?? "")"}
            """
        try json.write(to: file, atomically: true, encoding: .utf8)
        let tables = try await SettingsRecord.tables([
            ("", ["GOOGLE_APPLICATION_CREDENTIALS": file.path]),
            ("With `FCM_CREDENTIALS=metadata`", ["FCM_CREDENTIALS": "metadata", "GOOGLE_CLOUD_PROJECT": "p"]),
            ("With the parts of a key file", parts),
        ]) { _ = try NotifierConfiguration($0) }
        #expect(try GeneratedSection("notifier", of: "docs/CONFIGURATION.md").holds(tables))
    }

    @Test func `the parts of a key file are accepted as settings, with escaped line ends`() throws {
        let configuration = try NotifierConfiguration(try Self.firebase())
        #expect(configuration.projectID == "demo-project")
        guard case .key = configuration.credentials else {
            Issue.record("not a key")
            return
        }
    }

    @Test(arguments: [
        (["GOOGLE_APPLICATION_CREDENTIALS": "/key.json"], "FIREBASE_PRIVATE_KEY"),
        (["FCM_CREDENTIALS": "metadata"], "FIREBASE_PRIVATE_KEY"), (["FIREBASE_PROJECT_ID": ""], "FIREBASE_PROJECT_ID"),
        (["FIREBASE_CLIENT_EMAIL": ""], "FIREBASE_CLIENT_EMAIL"), (["FIREBASE_PRIVATE_KEY": "hunter2"], "FIREBASE_PRIVATE_KEY"),
        (["FIREBASE_PRIVATE_KEY": ""], "FIREBASE_PRIVATE_KEY"),
    ])
    func `two sources of credentials, or an incomplete one, are refused`(others: [String: String], name: String) throws {
        let settings = try Self.firebase(others)
        let error = #expect(throws: ConfigurationError.self) { try NotifierConfiguration(settings) }
        #expect(error?.name == name && error?.description.contains("hunter2") == false)
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
