internal import HeliographTracing
internal import Push
internal import Synchronization
internal import Tracing
internal import WireFormat

/// The span of a batch of pushes, from the claim to the last answer. One span per push would be 100,000 of them for a fan-out, without
/// more information.
final class SendTrace: Sendable {
    private struct State {
        var waiting: Int
        var outcomes: [String: Int] = [:]
    }

    /// The trace parent of the events about the batch.
    let traceparent: String
    private let span: any Span
    private let state: Mutex<State>

    /// Starts the span of a batch; nil when the trace of the cause is not recorded.
    init?(_ cause: QueuedPush.Cause, _ lane: Lane, count: Int) {
        guard count > 0, !(InstrumentationSystem.instrument is NoOpInstrument),
            let parent = cause.traceparent.flatMap(TraceParent.init), parent.isSampled
        else { return nil }
        span = startSpan("send pushes", context: .below(parent), ofKind: .client)
        span.updateAttributes { attributes in
            attributes["messaging.system"] = "fcm"
            attributes["messaging.batch.message_count"] = count
            attributes["heliograph.lane"] = lane.rawValue
        }
        traceparent = (span.context.traceParent ?? parent).description
        state = Mutex(State(waiting: count))
    }

    /// Records the verdict on one push, and ends the span after the last one.
    func ended(_ verdict: DeliveryVerdict) {
        let outcomes = state.withLock { state -> [String: Int]? in
            state.outcomes[verdict.word, default: 0] += 1
            state.waiting -= 1
            return state.waiting == 0 ? state.outcomes : nil
        }
        guard let outcomes else { return }
        span.updateAttributes { attributes in
            for (word, count) in outcomes { attributes["heliograph.pushes.\(word)"] = count }
        }
        span.end()
    }
}

extension DeliveryVerdict {
    /// The outcome in the span's attributes.
    fileprivate var word: String {
        switch self {
        case .settle(let settlement): settlement.outcome.rawValue
        case .deferDelivery: "postponed"
        case .abandon: "unknown"
        }
    }
}
