import ArgumentParser
import EventBus
import ServiceLifecycle

/// Runs a relay and a republisher.
struct Relay: AsyncParsableCommand {
    @OptionGroup var servers: Servers

    mutating func run() async throws {
        try await servers.run(connections: 2) { transport, postgres, logger in
            [
                OutboxRelay(transport: transport, postgres: postgres, logger: logger),
                Republisher(transport: transport, postgres: postgres, logger: logger),
            ]
        }
    }
}
