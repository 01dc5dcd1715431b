import ArgumentParser
import FCMEmulator

/// Checks that a running emulator answers, for containers, which have no curl.
struct Healthcheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Exit with 0 when an emulator answers on this machine.")

    @Option(help: "The port of its plain listener.")
    var port = 9080

    func run() async throws {
        guard await FCMEmulator.isAnswering(port: port) else { throw ExitCode.failure }
    }
}
