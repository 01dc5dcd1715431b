internal import Storage
internal import Synchronization
internal import TraceContext
internal import Tracing
internal import WireFormat

/// The sending of a batch of pushes, as one span from the claim to the last answer: a fan-out has a hundred thousand pushes, and
/// as many spans would tell no more.
final class SendTrace: Sendable {
    private struct State {
        var waiting: Int
        var outcomes: [String: Int] = [:]
    }

    /// What the events about the batch carry on.
    let traceparent: String
    private let span: any Span
    private let state: Mutex<State>

    /// Starts the span of a batch; there is none for a cause without a trace that is recorded.
    init?(_ cause: Push.Cause, _ lane: Lane, count: Int) {
        guard count > 0, !(InstrumentationSystem.instrument is NoOpInstrument),
            let parent = cause.traceparent.flatMap(TraceParent.init), parent.isSampled
        else { return nil }
        var context = InstrumentationContext.topLevel
        context.traceParent = parent
        span = startSpan("send pushes", context: context, ofKind: .client)
        span.updateAttributes { attributes in
            attributes["messaging.system"] = "fcm"
            attributes["messaging.batch.message_count"] = count
            attributes["heliograph.lane"] = lane.rawValue
        }
        traceparent = (span.context.traceParent ?? parent).description
        state = Mutex(State(waiting: count))
    }

    /// Notes what became of one push; after the last of them the span ends.
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
    /// The outcome, in one word.
    fileprivate var word: String {
        switch self {
        case .settle(let settlement): settlement.outcome.rawValue
        case .postpone: "postponed"
        case .leave: "unknown"
        }
    }
}
