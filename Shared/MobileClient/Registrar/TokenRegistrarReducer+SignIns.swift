/// Sign-ins that begin and end.
extension TokenRegistrarReducer {
    /// Follows the store of credentials.
    static func sync(_ state: inout State, _ signIn: String?, _ retired: [String]) -> [Effect] {
        for id in retired where id != signIn && !state.leaving.contains(id) { state.leaving.append(id) }
        var effects: [Effect] = []
        if signIn != state.signIn { effects = change(&state, to: signIn) }
        // A record of another sign-in, which an ended process has left, does not apply to this one.
        if state.registration?.signIn != signIn { effects += forget(&state) }
        return effects + dropOldest(&state)
    }

    /// Makes another sign-in, or no sign-in, the current one.
    private static func change(_ state: inout State, to signIn: String?) -> [Effect] {
        state.signIn = signIn
        state.claim = nil
        state.settled = nil
        state.isRemoved = false
        // The nonce of a sign-in often arrives before the app knows that it is signed in. After a sign-out it is of no use.
        if signIn == nil { state.nonces = [] }
        let wasPaused = state.pause != nil
        state.pause = nil
        return (wasPaused ? [.stopWaiting(.registration)] : []) + (state.request == nil ? [] : [.cancel])
    }

    /// Begins to end a sign-in whose credential is out of use: at once, whatever the known state of the network.
    static func leave(_ state: inout State, _ signIn: String?) -> [Effect] {
        guard let signIn else { return [] }
        state.leaving.removeAll { $0 == signIn }
        state.leaving.append(signIn)
        var effects: [Effect] = []
        if state.logOutPause != nil { effects.append(.stopWaiting(.logOut)) }
        state.logOutPause = nil
        if state.logOut == nil {
            state.logOut = signIn
            effects.append(.logOut(signIn))
        }
        return effects + dropOldest(&state)
    }

    /// Gives up the oldest logouts where there are too many. Their tokens move to the next account that registers this installation.
    private static func dropOldest(_ state: inout State) -> [Effect] {
        var effects: [Effect] = []
        while state.leaving.count > maxLeaving, let oldest = state.leaving.first(where: { $0 != state.logOut }) {
            state.leaving.removeAll { $0 == oldest }
            state.tried.remove(oldest)
            effects.append(.discard(oldest))
        }
        return effects
    }

    static func finishLogOut(_ state: inout State, _ signIn: String, _ answer: Answer) -> [Effect] {
        guard state.logOut == signIn else { return [] }
        state.logOut = nil
        guard case .failed(let time) = answer else {
            state.leaving.removeAll { $0 == signIn }
            state.tried.remove(signIn)
            return [.discard(signIn)]
        }
        state.tried.insert(signIn)
        state.logOutPause = time == nil ? .retry : .told
        return [.wait(.logOut, .backoff(atLeast: time))]
    }

    static func nextLogOut(_ state: inout State) -> [Effect] {
        guard state.logOut == nil, state.logOutPause == nil, state.isOnline, let last = state.leaving.last else { return [] }
        // A logout that always fails does not keep the others waiting.
        if state.tried.isSuperset(of: state.leaving) { state.tried = [] }
        let signIn = state.leaving.last { !state.tried.contains($0) } ?? last
        state.logOut = signIn
        return [.logOut(signIn)]
    }
}
