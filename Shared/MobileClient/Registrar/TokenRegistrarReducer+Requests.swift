internal import Foundation

/// Requests for the account that is signed in, and their answers.
extension TokenRegistrarReducer {
    /// Sends the next request.
    ///
    /// A logout in flight comes first: after it the API gives the installation to the next account without a hand-over.
    static func nextRequest(_ state: inout State) -> [Effect] {
        guard state.request == nil, state.logOut == nil, state.isOnline, let signIn = state.signIn else { return [] }
        let request: Request
        if let nonce = state.nonces.first, ![.retry, .told].contains(state.pause) {
            request = .confirm(nonce, signIn: signIn)
        } else if state.pause != nil {
            return []
        } else if let order = state.wanted {
            guard state.registration?.fingerprint != order.fingerprint else { return [] }
            request = .register(order)
        } else if state.push == .off, !state.isRemoved {
            request = .remove(signIn: signIn)
        } else {
            return []
        }
        state.request = request
        return forget(&state) + [.send(request)]
    }

    static func finish(_ state: inout State, _ request: Request, _ answer: Answer) -> [Effect] {
        guard state.request == request else { return [] }
        state.request = nil
        guard request.signIn == state.signIn else { return [] }
        switch (request, answer) {
        case (_, .failed(let time)):
            state.pause = time == nil ? .retry : .told
            return [.wait(.registration, .backoff(atLeast: time))]
        case (.register(let order), .registered(let time)): return record(&state, order, time)
        case (.register(let order), .claimed(let id, let time)):
            state.claim = Claim(handOverID: id, order: order)
            guard order == state.wanted else { return [] }
            state.pause = .claim
            return [.wait(.registration, .exactly(time))]
        case (.confirm(let nonce, _), _): return settle(&state, nonce, answer)
        case (.remove, .removed):
            state.isRemoved = true
            return []
        case (.register(let order), _) where order != state.wanted: return []
        default: return refuse(&state)
        }
    }

    /// Ends a claim, whether its nonce was accepted or not. The installation's registration is then known only for a claim of this process.
    private static func settle(_ state: inout State, _ nonce: Nonce, _ answer: Answer) -> [Effect] {
        state.nonces.removeAll { $0.handOverID == nonce.handOverID }
        state.settled = nonce.handOverID
        let claim = state.claim?.handOverID == nonce.handOverID ? state.claim : nil
        if claim != nil { state.claim = nil }
        switch answer {
        case .registered(let time):
            let effects = end(&state, [.claim, .refused])
            return effects + (claim.map { record(&state, $0.order, time) } ?? [])
        case .gone: return claim == nil ? [] : end(&state, [.claim])
        default: return refuse(&state)
        }
    }

    private static func record(_ state: inout State, _ order: Order, _ time: Date) -> [Effect] {
        let registration = Registration(signIn: order.signIn, fingerprint: order.fingerprint, at: time)
        state.registration = registration
        state.claim = nil
        return [.save(registration), .report]
    }

    private static func refuse(_ state: inout State) -> [Effect] {
        state.pause = .refused
        return [.wait(.registration, .exactly(refusalTime))]
    }
}
