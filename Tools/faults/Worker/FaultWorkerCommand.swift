import ArgumentParser
import BuildVersion

/// The processes that the fault tests kill and freeze: each is a part of a service with the real bus.
@main
struct FaultWorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fault-worker", abstract: "A producer, a relay or a consumer for the fault tests.",
        version: HeliographVersion.current,
        subcommands: [Produce.self, Relay.self, Consume.self])
}
