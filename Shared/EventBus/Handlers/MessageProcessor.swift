import Logging
import Tracing
import WireFormat

/// Handles the entries of one stream, one unit at a time.
protocol MessageProcessor: Sendable {
    /// Returns the number of entries in a unit of work.
    func unitSize(_ configuration: EventConsumerConfiguration) -> Int

    /// Returns the number of workers; one worker keeps the order in which the consumer reads the entries.
    func workerCount(_ configuration: EventConsumerConfiguration) -> Int

    /// Handles entries and returns the result of each, in their order. A failure is a result, not an error.
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

/// The stream, group and consumer of a message, with the logger and the metrics for handling it.
struct ConsumerScope: Sendable {
    let group: String
    let consumer: String
    let stream: String
    let logger: Logger
    let metrics: ConsumerMetrics
    /// Whether spans are recorded; the process chooses its tracer before it makes consumers.
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

    /// The consumer as a value of the transport.
    var address: GroupConsumer { GroupConsumer(group: StreamGroup(stream: stream, name: group), name: consumer) }

    /// Returns a logger that names the entry and its delivery count.
    func logger(for entry: EntryID, _ deliveryCount: Int) -> Logger {
        var logger = logger
        logger[metadataKey: "entry"] = "\(entry)"
        logger[metadataKey: "delivery"] = "\(deliveryCount)"
        return logger
    }
}
