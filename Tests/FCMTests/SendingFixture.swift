import FCM
import FCMEmulator
import FoundationEssentials
import HTTPClient
import Logging
import Push
import Synchronization
import TestSupport

/// An emulator and its client, over HTTP/2 and TLS as in production.
struct SendingFixture: Sendable {
    let emulator: FCMEmulator
    let http: HTTPClient
    let configuration: FCMConfiguration
    let key: ServiceAccountKey
    let tokens: CachedTokenSource
    let client: FCMClient
    let clock: TestClock

    /// A clock that only advances when it is set.
    final class TestClock: Sendable {
        private let time = Mutex(Date())
        var now: Date { time.withLock { $0 } }
        func advance(seconds: Double) { time.withLock { $0 = $0.addingTimeInterval(seconds) } }
    }

    /// The folder with the key files of all tests, which share them because generating RSA keys takes long.
    private static let keyFiles = Task {
        let directory = try TemporaryDirectory()
        let emulator = FCMEmulator(configuration: FCMEmulatorConfiguration(directory: directory.path))
        try await emulator.start()
        await emulator.stop()
        return directory
    }

    static func with<Value>(
        configure: (inout FCMEmulatorConfiguration) -> Void = { _ in },
        timeout: Duration = .seconds(60), _ body: (SendingFixture) async throws -> Value
    ) async throws -> Value {
        let clock = TestClock()
        var configuration = FCMEmulatorConfiguration(directory: try await keyFiles.value.path)
        configuration.now = { clock.now }
        configure(&configuration)
        let emulator = FCMEmulator(configuration: configuration)
        try await emulator.start()
        var httpConfiguration = HTTPClientConfiguration()
        httpConfiguration.caFile = configuration.certificateFile
        httpConfiguration.connectTimeout = .seconds(60)
        httpConfiguration.shutdownGrace = .zero
        let http = HTTPClient(configuration: httpConfiguration, logger: Logger(label: "test"))
        let stop = {
            await http.shutdown()
            await emulator.stop()
        }
        return try await finally(stop) {
            let file = try Data(contentsOf: URL(filePath: configuration.serviceAccountFile))
            let key = try ServiceAccountKey(json: [UInt8](file))
            let base = emulator.tlsURL ?? ""
            let tokens = try CachedTokenSource(
                key: key, tokenURL: base + "/token", http: http, logger: Logger(label: "test"), now: { clock.now })
            var fcm = FCMConfiguration()
            fcm.baseURL = base
            fcm.transport.caFile = configuration.certificateFile
            fcm.transport.connectTimeout = .seconds(60)
            fcm.transport.shutdownGrace = .zero
            fcm.transport.timeout = timeout
            fcm.transport.unacknowledgedTimeout = .seconds(120)
            let client = try FCMClient(
                configuration: fcm, projectID: key.projectID, tokens: tokens, logger: Logger(label: "test"), now: { clock.now })
            let fixture = SendingFixture(
                emulator: emulator, http: http, configuration: fcm, key: key, tokens: tokens, client: client, clock: clock)
            return try await finally(client.shutdown) { try await body(fixture) }
        }
    }

    /// Makes another client of the emulator.
    func makeClient(
        tokens: (any AccessTokenSource)? = nil, configure: (inout FCMConfiguration) -> Void = { _ in }
    ) throws -> FCMClient {
        var configuration = configuration
        configure(&configuration)
        return try FCMClient(
            configuration: configuration, projectID: key.projectID, tokens: tokens ?? self.tokens, logger: FCMEmulator.quietLogger,
            now: { clock.now })
    }

    /// Sends a message many times at once, and returns how many were accepted.
    func sendAtOnce(_ count: Int, _ message: FCMMessage, to token: String) async throws -> Int {
        try await race(count) { _ in await client.send(message, to: .token(token)).isAccepted }.count { $0 }
    }

    func send(to token: String) async throws -> FCMResult {
        await client.send(try message(), to: .token(token))
    }

    func message() throws -> FCMMessage {
        try FCMMessage(.sample(.signIn), .plain, expiresAt: clock.now.addingTimeInterval(600))
    }
}

extension PushSources {
    /// The sources of pushes in tests: a picture's key is its link, and the bytes of a sealed text are the text.
    static let plain = PushSources(notificationID: UUID(), link: { $0 }, open: { String(decoding: $0.bytes, as: UTF8.self) })
}

extension FCMResult {
    var isAccepted: Bool { if case .accepted = outcome { true } else { false } }
}
