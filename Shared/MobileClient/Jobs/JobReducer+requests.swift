/// The reactions to answers, and the next request.
extension JobReducer {
    /// Failures beyond this many wait no longer.
    static let maxFailures = 6

    static func start(_ state: inout State, isLaunch: Bool) -> [Effect] {
        switch state.saved.phase {
        case .ordering:
            state.request = .order
            // The job may have ended while the device did not know its id.
            if isLaunch { state.wanted = .launch }
            return [.emit(.ordering), .order]
        case .waiting: return state.saved.isCancelling ? delete(&state) : want(&state, .launch)
        case .ended: return []
        }
    }

    static func orderAnswered(_ state: inout State, _ answer: OrderAnswer) -> [Effect] {
        guard state.saved.phase == .ordering else { return [] }
        state.request = nil
        switch answer {
        case .accepted(let jobID):
            state.saved.phase = .waiting
            state.saved.jobID = jobID
            state.failures = 0
            let save = Effect.save(state.saved)
            if state.saved.isCancelling { return [save] + delete(&state) }
            let emit = Effect.emit(.active(.init(status: "pending", fraction: 0)))
            // A push may have arrived before the answer.
            if let trigger = state.wanted { return [save, emit] + want(&state, trigger) }
            return [save, emit] + follow(&state)
        case .refused(let failure): return end(&state, state.saved.isCancelling ? .cancelled : .refused(failure))
        case .unknown(let seconds): return retry(&state, after: seconds)
        }
    }

    static func readAnswered(_ state: inout State, _ answer: ReadAnswer) -> [Effect] {
        guard state.request == .read else { return [] }
        let reason = state.reading
        state.request = nil
        state.reading = nil
        if state.saved.isCancelling { return delete(&state) }
        switch answer {
        case .active(let status):
            state.failures = 0
            state.status = status ?? state.status
            let fraction = Double(state.polls) / Double(max(state.maxPolls, 1))
            let emit: [Effect] = [.emit(.active(.init(status: state.status, fraction: min(fraction, 1))))]
            if let trigger = state.wanted { return emit + want(&state, trigger) }
            return emit + follow(&state)
        case .ended(let outcome): return end(&state, outcome)
        case .unknown(let seconds):
            state.wanted = state.wanted ?? reason
            return retry(&state, after: seconds)
        }
    }

    static func deleteAnswered(_ state: inout State, _ answer: DeleteAnswer) -> [Effect] {
        guard state.request == .delete else { return [] }
        state.request = nil
        switch answer {
        case .gone: return end(&state, .cancelled)
        case .unknown(let seconds): return retry(&state, after: seconds)
        }
    }

    static func timerFired(_ state: inout State) -> [Effect] {
        // A timer that fires while it is stopped is ignored.
        guard state.isTimerSet else { return [] }
        state.isTimerSet = false
        guard state.request == nil else { return [] }
        if state.saved.phase == .ordering {
            state.request = .order
            return [.order]
        }
        if state.saved.isCancelling { return delete(&state) }
        if let trigger = state.wanted { return want(&state, trigger) }
        guard state.isInForeground, !state.isStreaming else { return [] }
        // A failed poll has not been one: the number bounds answers that say "not yet".
        if state.failures == 0 { state.polls += 1 }
        state.request = .read
        return [.read(.poll)]
    }

    /// Reads the job now, or as soon as the request under way has its answer, which may be older than the reason for this read.
    static func want(_ state: inout State, _ trigger: Trigger) -> [Effect] {
        guard state.saved.phase == .waiting, state.request == nil else {
            state.wanted = trigger
            return []
        }
        state.wanted = nil
        state.reading = trigger
        state.request = .read
        return stopTimer(&state) + [.read(trigger)]
    }

    static func delete(_ state: inout State) -> [Effect] {
        state.request = .delete
        return stopFollowing(&state) + [.delete]
    }

    static func end(_ state: inout State, _ outcome: JobUpdate.Outcome) -> [Effect] {
        state.saved.phase = .ended(outcome)
        state.request = nil
        state.reading = nil
        state.wanted = nil
        return [.save(state.saved)] + stopFollowing(&state) + [.emit(.ended(outcome))]
    }

    static func expire(_ state: inout State) -> [Effect] { end(&state, state.saved.isCancelling ? .cancelled : .expired) }

    /// Takes the timer's action now.
    static func hurry(_ state: inout State) -> [Effect] {
        guard state.isTimerSet, state.request == nil else { return [] }
        return [.stopTimer] + timerFired(&state)
    }

    private static func retry(_ state: inout State, after seconds: Int?) -> [Effect] {
        state.failures = min(state.failures + 1, maxFailures)
        state.isTimerSet = true
        return [.setRetryTimer(failures: state.failures, retryAfter: seconds)]
    }
}
