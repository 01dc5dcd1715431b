public import AsyncPrimitives
import FoundationEssentials
public import Logging
public import PostgresClient
public import ServiceLifecycle

/// Republishes the messages that Redis lost: published messages that some group has not handled, and whose entry is neither
/// undelivered nor pending in that group.
///
/// It checks in this order, so that no handled message is sent again: which due messages are not in the inbox (Postgres), which of them are
/// not in the stream (Redis), and which of these are still not in the inbox (Postgres), because handlers commit before they acknowledge.
/// The relay then publishes the same message with the same id. A message that waits in a long backlog is left alone, however long that
/// takes. Only a message whose retry was just appended may be sent twice; the inbox absorbs that.
///
/// Any number of republishers may run: while one checks a message, the others skip it until its next check is due. No transaction is open
/// during the queries to Redis.
public struct Republisher: Service {
    private let transport: any EventTransport
    private let postgres: PostgresClient
    private let group: String?
    private let configuration: RepublisherConfiguration
    private let logger: Logger
    private let clock: any MonotonicClock
    private let metrics = RepublisherMetrics()

    /// Makes a republisher; it needs a relay, in this or another process, that publishes the messages it finds.
    ///
    /// - Parameter group: The group whose messages it republishes: a service may read its own streams only. nil for all groups.
    public init(
        transport: any EventTransport, postgres: PostgresClient, group: String? = nil,
        configuration: RepublisherConfiguration = RepublisherConfiguration(), logger: Logger,
        clock: any MonotonicClock = ContinuousClock()
    ) {
        self.transport = transport
        self.postgres = postgres
        self.group = group
        self.configuration = configuration
        self.logger = logger
        self.clock = clock
    }

    /// Runs a round every ``RepublisherConfiguration/interval`` until graceful shutdown. A round that fails is logged, and the
    /// next one tries again.
    public func run() async throws {
        await cancelWhenGracefulShutdown {
            var measureAt = clock.now
            while !Task.isCancelled {
                do {
                    try await runRound()
                    if clock.now >= measureAt {
                        metrics.record(try await OutboxRepository(postgres).backlog())
                        measureAt = clock.now + configuration.measureInterval
                    }
                } catch {
                    if !Task.isCancelled {
                        logger.warning("Looking after published messages failed", metadata: ["error": "\(error)"])
                    }
                }
                try? await clock.sleep(for: configuration.interval.jittered())
            }
        }
    }

    /// The result of a round, in numbers of messages.
    struct Round: Equatable {
        /// The messages that all of their groups have handled.
        var confirmed = 0
        /// The messages that are still in the backlog of a group.
        var inFlight = 0
        /// The lost messages that wait for the relay again.
        var republished = 0
        /// The messages that were lost after they had expired.
        var expired = 0
    }

    /// Checks due messages until none is left, or until ``RepublisherConfiguration/maxInFlight`` of them are still in a backlog.
    @discardableResult
    func runRound() async throws -> Round {
        var round = Round()
        while round.inFlight < configuration.maxInFlight, !Task.isCancelled {
            let check = try await OutboxRepository(postgres)
                .checkPublished(limit: configuration.batchSize, recheck: configuration.recheck, of: group)
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

    /// Returns the messages that their streams do not have for a group that has not handled them.
    private func lost(of messages: [OverdueMessage]) async throws -> [OutboxPublication] {
        var questions: [StreamGroup: [PublishedMessage]] = [:]
        for message in messages {
            guard let entryID = EntryID(message.publication.entryID) else { continue }
            for missing in message.missingGroups where group == nil || missing == group {
                questions[StreamGroup(stream: message.stream, name: missing), default: []]
                    .append(PublishedMessage(id: message.publication.messageID, entryID: entryID))
            }
        }
        var lost: Set<UUID> = []
        for (streamGroup, published) in questions {
            lost.formUnion(try await transport.absent(published, from: streamGroup).map(\.id))
        }
        return messages.map(\.publication).filter { lost.contains($0.messageID) }
    }
}
