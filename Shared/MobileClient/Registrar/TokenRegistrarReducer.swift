internal import Foundation

/// Decides when the push token is registered for an account, when it is removed, and when a sign-in is ended.
///
/// - A request belongs to the sign-in that was current when it was ordered; its answer has no effect on another sign-in.
/// - There is one such request at a time, so that the API handles them in their order.
/// - A registration is put in doubt before a request that may change it is sent, so that an end of the process between the two leaves no
///   record of what is no longer true.
/// - A sign-out first takes the credential out of use, so that no request can register the token again, and then ends the sign-in with
///   it, which removes the token in the same transaction. The credential is discarded only after that.
enum TokenRegistrarReducer: Reducer {
    enum Event: Hashable, Sendable {
        /// The process has begun, with the records of an earlier one.
        case launched(Registration?, at: Date)
        /// The store of credentials may have changed.
        case credentialsChanged
        /// The person signs out.
        case signOut
        /// The content of the store of credentials.
        case read(signIn: String?, retired: [String])
        /// The credential of a sign-in was taken out of use, or there was no credential.
        case left(String?, retired: [String])
        /// The token, a fact about the app, or the network may have changed.
        case deviceChanged
        case push(Push)
        case network(isOnline: Bool)
        /// The app is in use.
        case woke(at: Date)
        case nonce(Nonce)
        case answered(Request, Answer)
        case loggedOut(String, Answer)
        case resumed(Lane)
    }

    enum Effect: Hashable, Sendable {
        /// Reads the store of credentials: an effect, so that the read content is never older than the last retirement. If the store cannot
        /// be read now, no event follows and the state does not change.
        case read
        /// Reads the token, the facts and the network: an effect, so that the last event has the newest.
        case readDevice
        case save(Registration?)
        case send(Request)
        /// Ends the request in flight early. It still has one answer.
        case cancel
        /// Takes the current credential out of use, and stores it for its logout. If that fails, it stays in use and the state does not
        /// change.
        case retire
        case logOut(String)
        case discard(String)
        /// Sends ``Event/resumed(_:)`` later; replaces the lane's present wait.
        case wait(Lane, Wait)
        case stopWaiting(Lane)
        /// The installation is the account's.
        case report
    }

    /// For how long a lane pauses.
    enum Wait: Hashable, Sendable {
        /// A growing time.
        case backoff(atLeast: Duration?)
        case exactly(Duration)
    }

    /// The age at which a registration is repeated: the API forgets installations that it does not hear of.
    static let refreshAge = Duration.seconds(7 * 86_400)
    /// The time after which a refused registration is tried again.
    static let refusalTime = Duration.seconds(6 * 3_600)
    /// The most credentials that are kept for logouts.
    static let maxLeaving = 4
    private static let maxNonces = 2

    static func reduce(_ state: inout State, _ event: Event) -> [Effect] {
        let effects = change(&state, event)
        return effects + nextLogOut(&state) + nextRequest(&state)
    }

    private static func change(_ state: inout State, _ event: Event) -> [Effect] {
        switch event {
        case .launched(let registration, let time):
            state.registration = registration
            return expire(&state, at: time) + [.read]
        case .credentialsChanged: return [.read]
        case .signOut: return [.retire]
        case .read(let signIn, let retired): return sync(&state, signIn, retired)
        case .left(let signIn, let retired): return sync(&state, nil, retired) + leave(&state, signIn)
        case .deviceChanged: return [.readDevice]
        case .push(let push):
            guard push != state.push else { return [] }
            state.push = push
            state.isRemoved = false
            return end(&state, [.claim, .refused])
        case .network(let isOnline):
            guard isOnline != state.isOnline else { return [] }
            state.isOnline = isOnline
            return isOnline ? end(&state, [.retry]) : []
        case .woke(let time): return expire(&state, at: time)
        case .nonce(let nonce):
            guard nonce.handOverID != state.settled, !state.nonces.contains(where: { $0.handOverID == nonce.handOverID }) else { return [] }
            state.nonces = state.nonces.suffix(maxNonces - 1) + [nonce]
            return []
        case .answered(let request, let answer): return finish(&state, request, answer)
        case .loggedOut(let signIn, let answer): return finishLogOut(&state, signIn, answer)
        case .resumed(.registration):
            state.pause = nil
            return []
        case .resumed(.logOut):
            state.logOutPause = nil
            return []
        }
    }

    /// Ends the pauses of some kinds, of both lanes.
    static func end(_ state: inout State, _ kinds: Set<Pause>) -> [Effect] {
        var effects: [Effect] = []
        if let pause = state.pause, kinds.contains(pause) {
            state.pause = nil
            effects.append(.stopWaiting(.registration))
        }
        if let pause = state.logOutPause, kinds.contains(pause) {
            state.logOutPause = nil
            effects.append(.stopWaiting(.logOut))
        }
        return effects
    }

    /// Puts the registration in doubt.
    static func forget(_ state: inout State) -> [Effect] {
        guard state.registration != nil else { return [] }
        state.registration = nil
        return [.save(nil)]
    }

    /// Repeats an old registration, and a registration whose time cannot be right.
    private static func expire(_ state: inout State, at time: Date) -> [Effect] {
        guard let registration = state.registration else { return [] }
        let age = time.timeIntervalSince(registration.at)
        return age >= refreshAge / .seconds(1) || age < -86_400 ? forget(&state) : []
    }
}
