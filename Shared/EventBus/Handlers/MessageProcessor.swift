import Logging
import Tracing
import WireFormat

/// Handles the entries of one stream, one unit at a time.
protocol MessageProcessor: Sendable {
    /// Returns the number of entries that a worker passes to one call.
    func unitSize(_ configuration: EventConsumerConfiguration) -> Int

    /// Returns the number of workers; a single one keeps the order in which the consumer received the entries.
    func workerCount(_ configuration: EventConsumerConfiguration) -> Int

    /// Handles entries and returns their results, in their order. Never throws: a failure is a result.
    func process(_ entries: [DeliveredEntry], in scope: ConsumerScope) async -> [ProcessingResult]
}

/// The result of handling one entry.
enum ProcessingResult: Sendable {
    /// Its effect is committed.
    case handled
    /// Its effect was committed by an earlier delivery.
    case duplicate
    /// It has no effect.
    case failed(any Error)
    /// It cannot be read.
    case unreadable(WireFormatError)
}

/// Where a message was read, and with what it is handled.
struct ConsumerScope: Sendable {
    let group: String
    let consumer: String
    let stream: String
    let logger: Logger
    let metrics: ConsumerMetrics
    /// Whether spans are made; the process has chosen its tracer before it makes consumers.
    let isTraced = !(InstrumentationSystem.instrument is NoOpInstrument)

    init(group: String, consumer: String, stream: String, logger: Logger) {
        self.group = group
        self.consumer = consumer
        self.stream = stream
        var logger = logger
        logger[metadataKey: "stream"] = "\(stream)"
        logger[metadataKey: "group"] = "\(group)"
        self.logger = logger
        metrics = ConsumerMetrics(stream: stream, group: group)
    }

    /// The consumer, as the transport knows it.
    var address: GroupConsumer { GroupConsumer(group: StreamGroup(stream: stream, name: group), name: consumer) }

    /// A logger that says which entry it speaks of.
    func logger(for entry: EntryID, _ deliveryCount: Int) -> Logger {
        var logger = logger
        logger[metadataKey: "entry"] = "\(entry)"
        logger[metadataKey: "delivery"] = "\(deliveryCount)"
        return logger
    }
}
