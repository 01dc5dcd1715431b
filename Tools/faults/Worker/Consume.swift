import ArgumentParser
import EventBus
import FaultLedger
import ServiceLifecycle

/// Consumes the work and the events that follow from it.
struct Consume: AsyncParsableCommand {
    @OptionGroup var servers: Servers

    @Option(help: "How the handlers of work behave.")
    var behaviour = Behaviour.sound

    @Option(help: "How long a handler takes before it commits, in milliseconds.")
    var holdMilliseconds = 100

    @Option(help: "How many messages are handled at the same time.")
    var concurrency = 8

    @Option(help: "After how many commits the process kills itself, before it acknowledges; 0 for never.")
    var dieAfterCommits = 0

    @Option(help: "In which transaction the process stops itself (SIGSTOP), before it commits; 0 for none.")
    var stopInTransaction = 0

    @Option(help: "The idle time after which messages are claimed, in milliseconds; production's when nothing is said.")
    var minIdleMilliseconds: Int?

    @Option(help: "The failures after which a message becomes a dead letter; production's when nothing is said.")
    var maxFailures: Int?

    @Flag(help: "Handle the work in batches, in one transaction each.")
    var batches = false

    mutating func run() async throws {
        var configuration = EventConsumerConfiguration()
        configuration.concurrency = concurrency
        if let minIdleMilliseconds {
            configuration.claimMinIdle = .milliseconds(minIdleMilliseconds)
            configuration.claimInterval = .milliseconds(minIdleMilliseconds / 5)
            configuration.silenceLimit = min(configuration.silenceLimit, configuration.claimMinIdle)
        }
        if let maxFailures { configuration.retryPolicy.maxFailures = maxFailures }
        let options = HandlerOptions(
            behaviour: behaviour, hold: .milliseconds(holdMilliseconds), dieAfterCommits: dieAfterCommits,
            stopInTransaction: stopInTransaction)
        let batches = batches
        try await servers.run(connections: concurrency + 2) { transport, postgres, logger in
            let work: EventHandlerRegistration =
                batches ? .batchHandler(WorkBatchHandler()) : .handler(WorkHandler(options, postgres: postgres))
            return [
                try EventConsumer(
                    group: "fault", transport: transport, postgres: postgres, configuration: configuration, logger: logger,
                    handlers: [work, .handler(DoneHandler(postgres: postgres))])
            ]
        }
    }
}
