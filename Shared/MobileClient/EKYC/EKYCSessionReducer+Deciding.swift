internal import Foundation

extension EKYCSessionReducer {
    /// Asks the API about the session: at intervals of three seconds at first, and then so that it holds its answer.
    ///
    /// - Parameter isWoken: Whether there is a reason to expect the outcome now: the system may give the app only seconds for it.
    static func ask(_ state: inout State, isWoken: Bool = false) -> [Effect] {
        state.activity = .asking
        state.isWoken = false
        return [.ask(waitSeconds: isWoken || state.quickAsksLeft > 0 ? 0 : 30)]
    }

    static func decide(_ state: inout State, _ event: Event) -> [Effect] {
        guard state.activity == .asking, case .deciding(let id) = state.phase else { return [] }
        switch event {
        case .answered(.undecided):
            state.failures = 0
            state.quickAsksLeft = max(state.quickAsksLeft - 1, 0)
            // The answer may be older than the push that arrived meanwhile.
            return state.isWoken ? ask(&state, isWoken: true) : pause(&state, before: .ask, 3_000)
        case .answered(.succeeded(let awaited)):
            guard state.kind == .signIn else { return end(&state, .enrolled(awaiting: awaited)) }
            state.failures = 0
            return [.show(.signingIn(sessionID: id))] + redeem(&state)
        case .answered(.failed(let failure)): return end(&state, .failed(failure))
        case .answered(.expired): return end(&state, .expired)
        case .askFailed(let fault) where fault.isFinal: return end(&state, unanswered(state))
        case .askFailed(let fault): return retry(&state, .ask, fault)
        default: return []
        }
    }

    /// The outcome of a session that the API does not know any more: a sign-in is over then, whatever it came to.
    static func unanswered(_ state: State) -> EKYCSession.Outcome { state.kind == .signIn ? .expired : .outcomeUnknown }

    static func redeem(_ state: inout State, code: String? = nil) -> [Effect] {
        state.activity = .redeeming(code: code)
        state.enteredCode = nil
        return [.redeem(code: code)]
    }

    /// Sends an entered code. One that is entered while the tokens are being asked for is sent after the answer.
    static func enter(_ state: inout State, _ code: String) -> [Effect] {
        guard case .awaitingCode = state.phase else { return [] }
        switch state.activity {
        case .pausing(before: .redeem): return [.cancel] + redeem(&state, code: code)
        case .redeeming:
            state.enteredCode = code
            return []
        default: return []
        }
    }

    /// Waits for the person to enter a code, or to confirm the sign-in on another device, after which the tokens need no code.
    ///
    /// - Parameter attemptsLeft: The attempts after a wrong code; nil if none was entered: then what is shown stays.
    private static func awaitCode(
        _ state: inout State, _ id: UUID, _ awaited: EKYCSession.AwaitedCode, _ age: Age, attemptsLeft: Int? = nil
    ) -> [Effect] {
        let waiting = Phase.awaitingCode(sessionID: id, awaited)
        let isNews = attemptsLeft != nil || state.phase != waiting
        (state.phase, state.failures) = (waiting, 0)
        let shown: [Effect] = isNews ? [.save(waiting), .show(.awaitingCode(sessionID: id, awaited, attemptsLeft: attemptsLeft))] : []
        if let code = state.enteredCode { return shown + redeem(&state, code: code) }
        // A person who has not confirmed by now has put the phone away; a code may still be entered.
        return shown + pause(&state, before: .redeem(code: nil), age == .repeatable ? 5_000 : 60_000)
    }

    static func store(_ state: inout State, _ tokens: AccountTokens) -> [Effect] {
        state.activity = .storing(tokens)
        return [.store(tokens)]
    }

    static func signIn(_ state: inout State, _ event: Event) -> [Effect] {
        switch (event, state.activity) {
        case (.redeemed(let tokens), .redeeming):
            guard let id = state.sessionID else { return [] }
            state.phase = .signingIn(sessionID: id, userID: tokens.userID)
            state.failures = 0
            return [.save(state.phase)] + store(&state, tokens)
        case (.redeemed(let tokens), .redeemingInVain):
            state.activity = .idle
            return [.discard(tokens)]
        case (.redeemFailed, .redeemingInVain):
            state.activity = .idle
            return []
        case (.redeemFailed(let fault, let age, let isSignedIn), .redeeming(let code)):
            return failRedemption(&state, fault, age, code, isSignedIn: isSignedIn)
        case (.stored, .storing(let tokens)):
            return end(&state, .signedIn(userID: tokens.userID))
        case (.storingFailed(.over, let isSignedIn), .storing(let tokens)):
            // A former process may have stored them.
            return isSignedIn ? end(&state, .signedIn(userID: tokens.userID)) : end(&state, .tooLate) + [.discard(tokens)]
        case (.storingFailed, .storing(let tokens)):
            state.failures = min(state.failures + 1, maxCountedFailures)
            return pause(&state, before: .store(tokens), 1_000 << state.failures)
        default: return []
        }
    }

    private static func failRedemption(
        _ state: inout State, _ fault: Fault, _ age: Age, _ code: String?, isSignedIn: Bool
    ) -> [Effect] {
        if fault.error.code == .verificationRequired, let awaited = fault.error.awaitedCode, let id = state.sessionID, age != .over {
            return awaitCode(&state, id, awaited, age)
        }
        if case .awaitingCode(let id, let awaited) = state.phase, age != .over, fault.refusesCode {
            return awaitCode(&state, id, awaited, age, attemptsLeft: fault.error.attemptsLeft)
        }
        // After a former process had begun to store the tokens: they were stored, and refreshed since, or it is too late.
        if fault.isFinal || age == .over {
            if case .signingIn(_, let userID) = state.phase, isSignedIn { return end(&state, .signedIn(userID: userID)) }
            return end(&state, .tooLate)
        }
        if fault.error.code == .requestInProgress, case .deciding = state.phase { return retry(&state, .ask, fault) }
        return retry(&state, .redeem(code: code), fault)
    }
}

extension EKYCSessionReducer.State {
    /// The id of the session at the API, once there is one.
    var sessionID: UUID? {
        switch phase {
        case .deciding(let id), .awaitingCode(let id, _), .signingIn(let id, _): id
        case .new, .uploading, .ended, .removed: nil
        }
    }
}
