extension EKYCSessionReducer {
    /// Makes the outcome certain, and then forgets what it was made from. The record stays until the app has acknowledged the outcome.
    static func end(_ state: inout State, _ outcome: EKYCSession.Outcome) -> [Effect] {
        state.phase = .ended(outcome)
        if state.activity != .redeemingInVain { state.activity = .idle }
        state.lastRefusal = nil
        // After a sign-out the next person must not find what the former one has done.
        return [.save(state.phase)] + cleanUp(outcome) + (outcome == .signedOut ? forget(&state) : [])
    }

    /// Deletes the secret and the photos, and reports the outcome: in each process until the app has acknowledged it.
    static func cleanUp(_ outcome: EKYCSession.Outcome) -> [Effect] {
        [.deleteSecret, .deleteBody, .report(outcome)]
    }

    /// The app has done what the outcome asks for.
    static func acknowledge(_ state: inout State) -> [Effect] {
        guard case .ended = state.phase else { return [] }
        return forget(&state)
    }

    private static func forget(_ state: inout State) -> [Effect] {
        state.phase = .removed
        return [.removeRecord]
    }

    static func stop(_ state: inout State, _ outcome: EKYCSession.Outcome) -> [Effect] {
        switch state.phase {
        case .new where state.activity == .idle:
            // It was overtaken before it had begun: nothing is kept of it.
            return [.report(outcome)] + forget(&state)
        case .ended where outcome == .signedOut: return forget(&state)
        case .new, .ended, .removed: return []
        case .uploading, .deciding, .signingIn: break
        }
        switch state.activity {
        case .redeeming:
            // The request is not cancelled: its answer says what there is to sign out. What a former process may have stored is left to
            // the sign-in that supersedes it.
            if outcome == .signedOut || !state.phase.isSigningIn { state.activity = .redeemingInVain }
            return end(&state, outcome)
        case .pausing(before: .store(let tokens)):
            return [.cancel] + end(&state, outcome) + (outcome == .signedOut ? [.discard(tokens)] : [])
        case .idle, .creating, .posting, .asking, .redeemingInVain, .storing, .pausing:
            return [.cancel] + end(&state, outcome)
        }
    }
}

extension EKYCSessionReducer.Phase {
    var isSigningIn: Bool { if case .signingIn = self { true } else { false } }
}
