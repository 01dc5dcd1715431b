import FCMEmulator
import FoundationEssentials
import HTTPClient
import HeliographCrypto
import JSON
import Logging
import TestSupport
import Testing

/// An emulator of the test's own, with a client that uses it as the notifier does.
struct Fixture: Sendable {
    let emulator: FCMEmulator
    let client: HTTPClient
    private let accessToken: String

    @TaskLocal private static var running: Fixture?

    /// The fixture of the running test, which has the trait `emulator`.
    static var current: Fixture {
        guard let running else { preconditionFailure("the test lacks the trait .emulator") }
        return running
    }

    /// The folder with the key files of all tests, which share them because generating RSA keys takes long.
    private static let keyFiles = Task {
        let directory = try TemporaryDirectory()
        let emulator = FCMEmulator(configuration: FCMEmulatorConfiguration(directory: directory.path))
        try await emulator.start()
        await emulator.stop()
        return directory
    }

    /// Runs a test with an emulator that is stopped afterwards.
    static func run(
        _ configure: (inout FCMEmulatorConfiguration) -> Void = { _ in }, _ test: () async throws -> Void
    ) async throws {
        var configuration = FCMEmulatorConfiguration(directory: try await keyFiles.value.path)
        configure(&configuration)
        let emulator = FCMEmulator(configuration: configuration)
        try await emulator.start()
        var clientConfiguration = HTTPClientConfiguration()
        clientConfiguration.caFile = configuration.certificateFile
        clientConfiguration.allowedSchemes = ["http", "https"]
        clientConfiguration.connectTimeout = .seconds(60)
        clientConfiguration.shutdownGrace = .milliseconds(100)
        let client = HTTPClient(configuration: clientConfiguration, logger: FCMEmulator.quietLogger)
        do {
            // The token is not requested from /token, because some tests inject faults there.
            let token = emulator.issueAccessToken()
            let fixture = Fixture(emulator: emulator, client: client, accessToken: token)
            try await $running.withValue(fixture) { try await test() }
        } catch {
            await emulator.stop()
            await client.shutdown()
            throw error
        }
        await emulator.stop()
        await client.shutdown()
    }

    /// An answer with its parsed body.
    struct Answer {
        let response: HTTPClientResponse
        var status: Int { response.status }
        var text: String { String(decoding: response.body, as: UTF8.self) }
        var json: JSONValue { (try? JSONValue(parsing: response.body)) ?? .null }
        /// The details of an error, each as the last part of its type.
        var details: [String] {
            (json["error"]?["details"]?.elements ?? []).map { detail in
                detail["@type"]?.string?.split(separator: ".").last.map(String.init) ?? "?"
            }
        }
        var errorCode: String? {
            json["error"]?["details"]?.elements?.compactMap { $0["errorCode"]?.string }.first
        }
        var field: String? {
            json["error"]?["details"]?.elements?.compactMap { $0["fieldViolations"]?[0]?["field"]?.string }.first
        }
    }

    /// Sends a request to the control API, or to any path of the plain listener.
    func call(_ method: String, _ path: String, _ body: String = "", timeout: Duration = .seconds(60)) async throws -> Answer {
        Answer(
            response: try await client.execute(
                HTTPClientRequest(
                    method: method, url: emulator.url + path, body: Array(body.utf8), timeout: timeout)))
    }

    /// Sends a message over TLS and HTTP/2; without the header if `authorization` is nil.
    func send(
        _ body: String, project: String = "heliograph-dev", authorization: String? = "", timeout: Duration = .seconds(60)
    ) async throws -> Answer {
        let url = try #require(emulator.tlsURL) + "/v1/projects/\(project)/messages:send"
        let header = authorization.map { [("authorization", $0.isEmpty ? "Bearer " + accessToken : $0)] } ?? []
        return Answer(
            response: try await client.execute(
                HTTPClientRequest(
                    method: "POST", url: url, headers: header, body: Array(body.utf8), timeout: timeout)))
    }

    /// Sends an empty message to a token or installation id.
    func send(to registration: String, validateOnly: Bool = false) async throws -> Answer {
        try await send(#"{"message":{"token":"\#(registration)"},"validate_only":\#(validateOnly)}"#)
    }

    /// Posts a form to the token endpoint.
    func requestToken(_ form: String) async throws -> Answer {
        let url = try #require(emulator.tlsURL) + "/token"
        return Answer(
            response: try await client.execute(
                HTTPClientRequest(method: "POST", url: url, body: Array(form.utf8), timeout: .seconds(60))))
    }
}

/// Gives each test, and each of its arguments, an emulator.
struct EmulatorTrait: TestTrait, TestScoping {
    let configure: @Sendable (inout FCMEmulatorConfiguration) -> Void

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        try await Fixture.run(configure) { try await function() }
    }
}

extension Trait where Self == EmulatorTrait {
    static var emulator: EmulatorTrait { EmulatorTrait { _ in } }

    static func emulator(_ configure: @escaping @Sendable (inout FCMEmulatorConfiguration) -> Void) -> EmulatorTrait {
        EmulatorTrait(configure: configure)
    }
}
