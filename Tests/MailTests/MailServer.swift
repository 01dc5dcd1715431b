import FCMEmulator
import Logging
import Mail
import TestSupport

/// A mail server of the test's own, the emulator's, with a client of it.
struct MailServer: Sendable {
    let emulator: FCMEmulator
    let client: SMTPClient
    private let caFile: String

    /// The folder with the key files of all tests, which share them because generating RSA keys takes long.
    private static let keyFiles = Task {
        let directory = try TemporaryDirectory()
        let emulator = FCMEmulator(configuration: FCMEmulatorConfiguration(directory: directory.path))
        try await emulator.start()
        await emulator.stop()
        return directory
    }

    /// Runs a test with a server and a client that trusts its certificate.
    static func run(
        server configure: (inout FCMEmulatorConfiguration) -> Void = { _ in },
        client adapt: (inout SMTPConfiguration) throws -> Void = { _ in }, _ test: (MailServer) async throws -> Void
    ) async throws {
        var configuration = FCMEmulatorConfiguration(directory: try await keyFiles.value.path)
        configuration.smtpPort = 0
        configuration.limits.delaySeconds = 600
        configure(&configuration)
        let emulator = FCMEmulator(configuration: configuration)
        try await emulator.start()
        try await finally(emulator.stop) {
            let url = emulator.smtpURL ?? ""
            let caFile = configuration.certificateFile
            let client = try makeClient(url: url, caFile: caFile, adapt)
            try await finally(client.close) {
                try await test(MailServer(emulator: emulator, client: client, caFile: caFile))
            }
        }
    }

    /// Makes another client of the server.
    func client(url: String? = nil, _ adapt: (inout SMTPConfiguration) throws -> Void) throws -> SMTPClient {
        try Self.makeClient(url: url ?? emulator.smtpURL ?? "", caFile: caFile, adapt)
    }

    private static func makeClient(
        url: String, caFile: String, _ adapt: (inout SMTPConfiguration) throws -> Void
    ) throws -> SMTPClient {
        var configuration = try SMTPConfiguration(url: url, from: "Heliograph <no-reply@example.com>")
        configuration.caFile = caFile
        configuration.timeout = .seconds(120)
        configuration.shutdownGrace = .zero
        try adapt(&configuration)
        return SMTPClient(configuration, logger: FCMEmulator.quietLogger)
    }

    /// Makes the next refusals of a step.
    func refuse(_ step: MailStep, with code: Int, count: Int? = 1, to recipient: String? = nil) {
        fault(.error(.internal, status: code), at: step, count: count, to: recipient)
    }

    /// Makes a fault of a step.
    func fault(
        _ effect: FaultRule.Effect, at step: MailStep, count: Int? = 1, to recipient: String? = nil, isDelivered: Bool = false
    ) {
        var rule = FaultRule(effect)
        rule.endpoint = .mail
        (rule.step, rule.count, rule.recipient, rule.isDelivered) = (step, count, recipient, isDelivered)
        emulator.addFault(rule)
    }
}

extension SMTPConfiguration {
    /// The same server and limits, with another user or without TLS.
    func with(username: String? = nil, password: String? = nil, tls: TLS = .required) throws -> SMTPConfiguration {
        var other = try SMTPConfiguration(
            url: url, from: "\(from.name) <\(from.address)>", username: username, password: password, tls: tls)
        (other.caFile, other.timeout, other.shutdownGrace) = (caFile, timeout, shutdownGrace)
        return other
    }
}

extension MailMessage {
    /// A mail to an address.
    static func sample(to address: String = "ann@example.org", text: String = "Hello\n", id: String = "m1") -> MailMessage {
        MailMessage(to: address, subject: "Your code", text: text, id: id)
    }
}

extension MailSender {
    /// Returns the error of a mail; nil when it was sent.
    func failure(_ message: MailMessage = .sample()) async -> MailError? {
        do {
            try await send(message)
            return nil
        } catch {
            return error
        }
    }
}
