/// The life of one order of a picture on the device, from its first request to the moment when the app has seen its end.
///
/// All state that a crash must not lose is in ``Saved``, and is on the disk before the steps that depend on it. An end is saved before it
/// is reported to the app. So the app gets the same end after a crash, until it has acknowledged it.
enum JobReducer: Reducer {
    /// Why the API is asked; the value of `X-Client-Trigger`.
    enum Trigger: String, Hashable, Sendable { case push, poll, launch }

    /// The state on the disk.
    struct Saved: Codable, Hashable, Sendable {
        enum Phase: Codable, Hashable, Sendable {
            /// The API has not confirmed the order. It may have it.
            case ordering
            /// The API works on the job.
            case waiting
            /// The app has not acknowledged the end.
            case ended(JobUpdate.Outcome)
        }

        var phase = Phase.ordering
        var jobID: String?
        /// The app does not want the picture. The API must hear of that, which needs the job's id.
        var isCancelling = false

        var hasEnded: Bool {
            guard case .ended = phase else { return false }
            return true
        }
    }

    /// A request that has no answer yet. There is at most one.
    enum Request: Hashable, Sendable { case order, read, delete }

    struct State: Hashable, Sendable {
        var saved = Saved()
        /// The number of polls before the client waits for a push: 20 times 3 s.
        var maxPolls = 20
        var usesStream = false
        var isInForeground = true
        var request: Request?
        /// The reason for a read that is due and has had no answer: a push may arrive while an older read is under way.
        var wanted: Trigger?
        /// The reason for the read under way; nil for a poll of the timer, which the next one replaces.
        var reading: Trigger?
        /// The status that the API named last.
        var status = "pending"
        var polls = 0
        /// Requests in a row that had no answer.
        var failures = 0
        var isTimerSet = false
        var isStreaming = false
        var isRemoved = false
    }

    /// The answer to an order.
    enum OrderAnswer: Hashable, Sendable {
        case accepted(String)
        case refused(JobUpdate.Failure)
        /// The API may have the order; the same key may be sent again, after so many seconds if it named a time.
        case unknown(retryAfter: Int?)
    }

    /// The answer to a read.
    enum ReadAnswer: Hashable, Sendable {
        /// The job has not ended; nil when it has not changed since the last read.
        case active(status: String?)
        case ended(JobUpdate.Outcome)
        case unknown(retryAfter: Int?)
    }

    /// The answer to a deletion.
    enum DeleteAnswer: Hashable, Sendable {
        case gone
        case unknown(retryAfter: Int?)
    }

    enum Event: Hashable, Sendable {
        /// The process begins to follow the order: it is new, or the app was launched. First of all events.
        case started(isLaunch: Bool, isLate: Bool)
        case enteredForeground
        case enteredBackground
        case orderAnswered(OrderAnswer)
        case readAnswered(ReadAnswer)
        case deleteAnswered(DeleteAnswer)
        /// The stream told of the job; `hasEnded` when it is the last event.
        case streamed(status: String, queuePosition: Int?, percent: Int?, hasEnded: Bool)
        case streamEnded
        case pushed
        case timerFired
        /// The network is there again.
        case networkReturned
        /// The order is 24 hours old: the API has forgotten it, and would take a repetition for a new order.
        case deadlinePassed
        case cancelled
        /// The person signed out; the API is not asked any more.
        case forgotten
        /// The app has seen the end.
        case acknowledged
    }

    enum Effect: Hashable, Sendable {
        /// Stores the state that a crash must not lose, and removes files that the order does not need any more.
        case save(Saved)
        case order
        case read(Trigger)
        case delete
        case openStream
        case closeStream
        /// Wakes the reducer at the time of the next poll; replaces the timer that is set.
        case setPollTimer
        /// Wakes the reducer after so many failures in a row; replaces the timer that is set.
        case setRetryTimer(failures: Int, retryAfter: Int?)
        case stopTimer
        case emit(JobUpdate.State)
        /// Removes everything of the order from the device.
        case remove
    }

    static func reduce(_ state: inout State, _ event: Event) -> [Effect] {
        guard !state.isRemoved else { return [] }
        guard !state.saved.hasEnded else { return reduceEnded(&state, event) }
        switch event {
        case .started(let isLaunch, let isLate): return isLate ? expire(&state) : start(&state, isLaunch: isLaunch)
        case .enteredForeground: return enterForeground(&state)
        case .enteredBackground: return enterBackground(&state)
        case .orderAnswered(let answer): return orderAnswered(&state, answer)
        case .readAnswered(let answer): return readAnswered(&state, answer)
        case .deleteAnswered(let answer): return deleteAnswered(&state, answer)
        case .streamed(let status, let position, let percent, let hasEnded):
            guard state.isStreaming else { return [] }
            // The end is in the job and not in the event.
            if hasEnded { return stopFollowing(&state) + want(&state, .poll) }
            let fraction = percent.map { Double(min(max($0, 0), 100)) / 100 } ?? 0
            state.status = status
            return [.emit(.active(.init(status: status, queuePosition: position, fraction: fraction)))]
        case .streamEnded:
            guard state.isStreaming else { return [] }
            state.isStreaming = false
            // Polls take over: a proxy that cuts streams would be asked for ever.
            state.usesStream = false
            return state.request == nil ? follow(&state) : []
        case .pushed: return want(&state, .push)
        case .timerFired: return timerFired(&state)
        case .networkReturned: return state.failures > 0 ? hurry(&state) : []
        case .deadlinePassed: return expire(&state)
        case .forgotten: return end(&state, .cancelled)
        case .cancelled: return cancel(&state)
        case .acknowledged: return []
        }
    }

    private static func reduceEnded(_ state: inout State, _ event: Event) -> [Effect] {
        guard case .ended(let outcome) = state.saved.phase else { return [] }
        switch event {
        // The process may have ended before the app got the update.
        case .started: return [.emit(.ended(outcome))]
        case .acknowledged:
            state.isRemoved = true
            return [.remove]
        default: return []
        }
    }
}
