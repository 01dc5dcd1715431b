import ArgumentParser
import EventBus
import ServiceLifecycle

/// Runs a relay and a republisher.
struct Relay: AsyncParsableCommand {
    @OptionGroup var servers: Servers

    @Option(help: "The time until the first check of a published message, in milliseconds; production's when nothing is said.")
    var confirmWaitMilliseconds: Int?

    func run() async throws {
        var (relay, republisher) = (OutboxRelayConfiguration(), RepublisherConfiguration())
        if let confirmWaitMilliseconds {
            relay.confirmWait = .milliseconds(confirmWaitMilliseconds)
            republisher.interval = .milliseconds(confirmWaitMilliseconds / 4)
            republisher.recheck = relay.confirmWait
        }
        try await servers.run(connections: 2) { transport, postgres, logger in
            [
                OutboxRelay(transport: transport, postgres: postgres, configuration: relay, logger: logger),
                Republisher(transport: transport, postgres: postgres, configuration: republisher, logger: logger),
            ]
        }
    }
}
