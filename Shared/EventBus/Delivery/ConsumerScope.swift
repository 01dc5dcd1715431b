import AsyncPrimitives
import Logging
import Tracing

/// The stream, group and consumer of a message, with the logger, the metrics and the clock for handling it.
///
/// A class, because it is passed on with every message, and copying some thirty references each time showed in profiles.
final class ConsumerScope: Sendable {
    let group: String
    let consumer: String
    let stream: String
    let logger: Logger
    let metrics: ConsumerMetrics
    let clock: any MonotonicClock
    /// Whether spans are recorded; the process chooses its tracer before it makes consumers.
    let isTraced = !(InstrumentationSystem.instrument is NoOpInstrument)

    init(group: String, consumer: String, stream: String, logger: Logger, clock: any MonotonicClock = ContinuousClock()) {
        self.group = group
        self.consumer = consumer
        self.stream = stream
        self.clock = clock
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
