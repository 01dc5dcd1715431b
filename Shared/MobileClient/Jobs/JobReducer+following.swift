/// The ways to find the end of a job while the app is open, and the app's actions on a job.
extension JobReducer {
    /// Follows a job for which no request is under way.
    static func follow(_ state: inout State) -> [Effect] {
        guard state.isInForeground, !state.isStreaming else { return [] }
        if state.usesStream {
            state.isStreaming = true
            return [.openStream]
        }
        guard state.polls < state.maxPolls else { return [.emit(.inBackground)] }
        state.isTimerSet = true
        return [.setPollTimer]
    }

    static func stopFollowing(_ state: inout State) -> [Effect] {
        let effects: [Effect] = state.isStreaming ? [.closeStream] : []
        state.isStreaming = false
        return effects + stopTimer(&state)
    }

    static func stopTimer(_ state: inout State) -> [Effect] {
        guard state.isTimerSet else { return [] }
        state.isTimerSet = false
        return [.stopTimer]
    }

    static func enterForeground(_ state: inout State) -> [Effect] {
        guard !state.isInForeground else { return [] }
        state.isInForeground = true
        state.polls = 0
        guard !state.saved.isCancelling else { return hurry(&state) }
        let effects = want(&state, .launch)
        return state.saved.phase == .waiting ? effects : hurry(&state)
    }

    static func enterBackground(_ state: inout State) -> [Effect] {
        guard state.isInForeground else { return [] }
        state.isInForeground = false
        guard state.saved.phase == .waiting, !state.saved.isCancelling else { return [] }
        let close: [Effect] = state.isStreaming ? [.closeStream] : []
        state.isStreaming = false
        // A read for a push or a launch is retried in the background, too.
        return state.wanted == nil ? close + stopTimer(&state) : close
    }

    static func cancel(_ state: inout State) -> [Effect] {
        guard !state.saved.isCancelling else { return [] }
        state.saved.isCancelling = true
        let save = Effect.save(state.saved)
        // The answer to an order names the job that is to be deleted; without one, the order is repeated by its key.
        guard state.saved.phase == .waiting, state.request == nil else { return [save] }
        return [save] + delete(&state)
    }
}
