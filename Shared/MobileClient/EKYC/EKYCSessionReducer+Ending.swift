extension EKYCSessionReducer {
    /// Stores the outcome, and then removes the data that led to it. The record stays until the app has acknowledged the outcome.
    static func end(_ state: inout State, _ outcome: EKYCSession.Outcome) -> [Effect] {
        state.phase = .ended(outcome)
        if state.activity != .redeemingInVain { state.activity = .idle }
        state.lastRefusal = nil
        // After a sign-out the next person must not find the former person's sessions.
        return [.save(state.phase)] + cleanUp(&state, outcome) + (outcome == .signedOut ? forget(&state) : [])
    }

    /// Deletes the secret and the photos, and reports the outcome: in each process until the app has acknowledged it. The secret stays
    /// where a retake of bad photos needs it.
    ///
    /// - Parameter hasToken: Whether this process has the session's token.
    static func cleanUp(_ state: inout State, _ outcome: EKYCSession.Outcome, hasToken: Bool = true) -> [Effect] {
        guard let until = outcome.retakeUntil, hasToken else { return [.deleteSecret, .deleteBody, .report(outcome)] }
        state.activity = .awaitingRetake
        return [.deleteBody, .awaitRetake(until: until), .report(outcome)]
    }

    /// Deletes the secret that was kept for a retake.
    static func closeRetake(_ state: inout State) -> [Effect] {
        guard state.activity == .awaitingRetake else { return [] }
        state.activity = .idle
        return [.cancel, .deleteSecret]
    }

    /// The app has acted on the outcome.
    static func acknowledge(_ state: inout State) -> [Effect] {
        guard case .ended = state.phase else { return [] }
        return forget(&state)
    }

    private static func forget(_ state: inout State) -> [Effect] {
        state.phase = .removed
        return closeRetake(&state) + [.removeRecord]
    }

    static func stop(_ state: inout State, _ outcome: EKYCSession.Outcome) -> [Effect] {
        switch state.phase {
        case .new where state.activity == .idle:
            // It was superseded before it had begun: no data of it is stored.
            return [.report(outcome)] + forget(&state)
        case .ended where outcome == .signedOut: return forget(&state)
        case .ended where outcome == .superseded: return closeRetake(&state)
        case .new, .ended, .removed: return []
        case .uploading, .deciding, .awaitingCode, .signingIn: break
        }
        switch state.activity {
        case .redeeming:
            // The request is not cancelled: its answer has the tokens to sign out. Tokens that a former process may have stored are left to
            // the sign-in that supersedes this one.
            if outcome == .signedOut || !state.phase.isSigningIn { state.activity = .redeemingInVain }
            return end(&state, outcome)
        case .pausing(before: .store(let tokens)):
            return [.cancel] + end(&state, outcome) + (outcome == .signedOut ? [.discard(tokens)] : [])
        case .idle, .creating, .posting, .asking, .redeemingInVain, .storing, .pausing, .awaitingRetake:
            return [.cancel] + end(&state, outcome)
        }
    }
}

extension EKYCSessionReducer.Phase {
    var isSigningIn: Bool { if case .signingIn = self { true } else { false } }
}
