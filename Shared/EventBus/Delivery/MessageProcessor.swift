import AsyncPrimitives
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

    /// Whether its effect is committed.
    var isCommitted: Bool {
        switch self {
        case .handled, .duplicate: true
        case .failed, .unreadable: false
        }
    }

    /// The text of the error; empty without an error.
    var errorText: String {
        switch self {
        case .handled, .duplicate: ""
        case .failed(let error): "\(error)"
        case .unreadable(let error): "\(error)"
        }
    }

    /// Whether the handler failed because a dependency is unavailable.
    var isOutage: Bool {
        if case .failed(let error) = self { error.isDependencyUnavailable } else { false }
    }
}
