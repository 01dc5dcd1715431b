import FoundationEssentials
public import Logging
public import PostgresClient
public import ServiceLifecycle

/// Republishes the messages that Redis lost: published ones that some group has not handled, and that its stream no longer has.
///
/// It asks in this order, so that no handled message is sent again: which due messages are not in the inbox (Postgres), which of these
/// the stream does not have (Redis), and again which of those are not in the inbox (Postgres), because handlers commit before they
/// acknowledge. The relay then publishes the same message with the same id. A message that waits in a long backlog is not republished,
/// however long it waits. Only a message that is being retried may be sent twice; the inbox absorbs it.
///
/// Any number may run: a message that one has checked is not checked by others until its next check is due. No transaction is open
/// while Redis is asked.
public struct Republisher: Service {
    private let transport: any EventTransport
    private let postgres: PostgresClient
    private let configuration: RepublisherConfiguration
    private let logger: Logger
    private let metrics = RepublisherMetrics()

    /// Makes a republisher; a relay, in this process or another, publishes the messages that it finds.
    public init(
        transport: any EventTransport, postgres: PostgresClient,
        configuration: RepublisherConfiguration = RepublisherConfiguration(), logger: Logger
    ) {
        self.transport = transport
        self.postgres = postgres
        self.configuration = configuration
        self.logger = logger
    }

    /// Runs a round every ``RepublisherConfiguration/interval`` until graceful shutdown. A failed round is logged; the next one
    /// tries again.
    public func run() async throws {
        await cancelWhenGracefulShutdown {
            var measureAt = ContinuousClock.now
            while !Task.isCancelled {
                do {
                    try await runRound()
                    if ContinuousClock.now >= measureAt {
                        metrics.record(try await OutboxRepository(postgres).backlog())
                        measureAt = .now + configuration.measureInterval
                    }
                } catch {
                    if !Task.isCancelled {
                        logger.warning("Looking after published messages failed", metadata: ["error": "\(error)"])
                    }
                }
                try? await Task.sleep(for: configuration.interval.jittered())
            }
        }
    }

    /// The result of a round, in numbers of messages.
    struct Round: Equatable {
        /// They were handled.
        var confirmed = 0
        /// They are still in flight.
        var inFlight = 0
        /// They were lost and wait for the relay.
        var republished = 0
        /// They were lost after they had expired.
        var expired = 0
    }

    /// Checks due messages until none is left, or until ``RepublisherConfiguration/maxInFlight`` of them are still in flight.
    @discardableResult
    func runRound() async throws -> Round {
        var round = Round()
        while round.inFlight < configuration.maxInFlight, !Task.isCancelled {
            let check = try await OutboxRepository(postgres)
                .checkPublished(limit: configuration.batchSize, recheck: configuration.recheck)
            let lost = try await lost(of: check.overdue)
            let (republished, expired) = try await OutboxRepository(postgres).publishAgain(lost)
            round.confirmed += check.confirmed
            round.inFlight += check.overdue.count - lost.count
            round.republished += republished
            round.expired += expired
            if check.confirmed + check.overdue.count < configuration.batchSize { break }
        }
        metrics.record(round)
        if round.republished + round.expired > 0 {
            logger.notice(
                "Messages were lost by their streams and are published again",
                metadata: ["republished": "\(round.republished)", "expired": "\(round.expired)"])
        }
        return round
    }

    /// Returns the messages that their streams no longer have for a group that has not handled them.
    private func lost(of messages: [OverdueMessage]) async throws -> [OutboxPublication] {
        var questions: [StreamGroup: [PublishedMessage]] = [:]
        for message in messages {
            guard let entryID = EntryID(message.publication.entryID) else { continue }
            for group in message.missingGroups {
                questions[StreamGroup(stream: message.stream, name: group), default: []]
                    .append(PublishedMessage(id: message.publication.messageID, entryID: entryID))
            }
        }
        var lost: Set<UUID> = []
        for (group, published) in questions {
            lost.formUnion(try await transport.absent(published, from: group).map(\.id))
        }
        return messages.map(\.publication).filter { lost.contains($0.messageID) }
    }
}
