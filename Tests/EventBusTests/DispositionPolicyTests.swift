import PostgresClient
import Testing
import WireFormat

@testable import EventBus

@Suite("The disposition policy")
struct DispositionPolicyTests {
    private static let policy: DispositionPolicy = {
        var retryPolicy = RetryPolicy()
        (retryPolicy.maxFailures, retryPolicy.baseDelay, retryPolicy.outageDelay) = (3, .seconds(1), .seconds(5))
        return DispositionPolicy(group: "g", retryPolicy: retryPolicy)
    }()

    private static func entry(failures: Int = 0, onlyGroup: String? = nil, deliveryCount: Int = 1) -> DeliveredEntry {
        var fields: [StreamField] = [(name: "b", value: [])]
        if failures > 0 || onlyGroup != nil {
            fields += [
                (name: RetryField.failures, value: Array("\(failures)".utf8)),
                (name: RetryField.groups, value: Array((onlyGroup ?? "g").utf8)),
            ]
        }
        return DeliveredEntry(id: EntryID(milliseconds: 1, sequence: 0), fields: fields, deliveryCount: deliveryCount)
    }

    /// A row of the table: a result of an entry that has failed so often, and its disposition.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let result: ProcessingResult
        let failures: Int
        let circumstances: DispositionPolicy.Circumstances
        let decision: DispositionPolicy.Decision

        init(
            _ description: String, _ result: ProcessingResult, after failures: Int = 0, of unitCount: Int = 1,
            isStopping: Bool = false, isCancelled: Bool = false, _ decision: DispositionPolicy.Decision
        ) {
            testDescription = description
            self.result = result
            self.failures = failures
            circumstances = .init(unitCount: unitCount, isStopping: isStopping, isCancelled: isCancelled)
            self.decision = decision
        }
    }

    private static let (failed, cancelled) = (ProcessingResult.failed(TestFailure()), ProcessingResult.failed(CancellationError()))
    private static let outage = ProcessingResult.failed(EventBusError(.unavailable, "away"))
    private static let unreachable = ProcessingResult.failed(PostgresError(code: .unavailable, message: "no connection"))
    private static let lost = ProcessingResult.failed(PostgresError(code: .connectionLost, message: "the connection ended"))
    private static let unprivileged = ProcessingResult.failed(PostgresError(code: .sqlState("42501"), message: "denied"))
    private static let deferred = ProcessingResult.failed(HandlerDeferral(delay: .seconds(9), reason: "busy"))
    private static let unreadable = ProcessingResult.unreadable(WireFormatError(.malformedBody, "garbage"))

    static let table = [
        Row("a committed effect", .handled, .acknowledge),
        Row("an effect of an earlier delivery", .duplicate, .acknowledge),
        Row("an effect that was committed while the consumer drains", .handled, isStopping: true, isCancelled: true, .acknowledge),
        Row("an unreadable message", unreadable, after: 1, .deadLetter(.unreadable, failures: 1)),
        Row("a first failure", failed, .retry(.failure, failures: 1, delay: .seconds(1))),
        Row("a second failure", failed, after: 1, .retry(.failure, failures: 2, delay: .seconds(2))),
        Row("the last failure", failed, after: 2, .deadLetter(.failures, failures: 3)),
        Row("a deferral, which is no failure", deferred, after: 2, .retry(.deferral, failures: 2, delay: .seconds(9))),
        Row("an outage, which is no failure", outage, after: 2, .retry(.outage, failures: 2, delay: .seconds(5))),
        Row("a lost connection of a batch, which one of its messages may have caused", lost, of: 5, .handleAlone),
        Row("an outage that the server reports of a batch", unprivileged, of: 5, .handleAlone),
        Row("an outage that the server reports of one message", unprivileged, after: 2, .retry(.outage, failures: 2, delay: .seconds(5))),
        Row("no connection for a batch", unreachable, of: 5, .retry(.outage, failures: 0, delay: .seconds(5))),
        Row("an outage for a batch", outage, of: 5, .retry(.outage, failures: 0, delay: .seconds(5))),
        Row("a timeout", cancelled, isCancelled: true, .retry(.failure, failures: 1, delay: .seconds(1))),
        Row("the timeout of a batch", cancelled, of: 5, isCancelled: true, .handleAlone),
        Row("a failure of a batch's last message", failed, of: 5, .retry(.failure, failures: 1, delay: .seconds(1))),
        Row("a failure while the consumer drains", failed, isStopping: true, .retry(.failure, failures: 1, delay: .seconds(1))),
        Row("a cancellation while the consumer drains", cancelled, isStopping: true, .release),
        Row("a cancelled batch while the consumer drains", cancelled, of: 5, isStopping: true, isCancelled: true, .release),
        Row("any error of a worker that the drain has cancelled", failed, isStopping: true, isCancelled: true, .release),
    ]

    @Test(arguments: table) func `decides on`(row: Row) {
        let entry = Self.entry(failures: row.failures)
        #expect(Self.policy.decision(on: entry, row.result, row.circumstances, random: { 0 }) == row.decision)
    }

    @Test func `shortens delays at random, those of failures to nothing and those of outages to a fifth`() {
        let delays = [Self.failed, Self.outage].map { Self.policy.decision(on: Self.entry(), $0, .init(), random: { 1 }) }
        #expect(delays == [.retry(.failure, failures: 1, delay: .zero), .retry(.outage, failures: 0, delay: .seconds(1))])
    }

    @Test func `has entries handled, except those of other groups and those that crash their consumers`() {
        func decision(_ entry: DeliveredEntry) -> DispositionPolicy.Decision? { Self.policy.decision(onUnhandled: entry) }
        #expect(decision(Self.entry()) == nil)
        #expect(decision(Self.entry(onlyGroup: "g", deliveryCount: 3)) == nil)
        #expect(decision(Self.entry(onlyGroup: "other", deliveryCount: 9)) == .acknowledge)
        #expect(decision(Self.entry(failures: 2, deliveryCount: 4)) == .deadLetter(.crashes, failures: 2))
    }
}
