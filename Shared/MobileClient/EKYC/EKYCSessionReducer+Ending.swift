extension EKYCSessionReducer {
    /// Makes the outcome certain, and then forgets what it was made from.
    static func end(_ state: inout State, _ outcome: EKYCSession.Outcome) -> [Effect] {
        state.phase = .ended(outcome)
        if state.activity != .redeemingInVain { state.activity = .idle }
        state.lastRefusal = nil
        return [.save(state.phase)] + cleanUp(&state, outcome)
    }

    /// Deletes the secret and the photos, and reports if the app listens.
    static func cleanUp(_ state: inout State, _ outcome: EKYCSession.Outcome) -> [Effect] {
        [.deleteSecret, .deleteBody] + (state.isHandedOut ? report(&state, outcome) : [])
    }

    /// The record is removed after the report: a process that ends between the two is followed by one that reports the same again, to
    /// an app that may not have got to know of it.
    private static func report(_ state: inout State, _ outcome: EKYCSession.Outcome) -> [Effect] {
        state.phase = .removed
        return [.report(outcome), .removeRecord]
    }

    static func handOut(_ state: inout State) -> [Effect] {
        guard !state.isHandedOut else { return [] }
        state.isHandedOut = true
        guard case .ended(let outcome) = state.phase else { return [] }
        return report(&state, outcome)
    }

    static func stop(_ state: inout State, _ outcome: EKYCSession.Outcome) -> [Effect] {
        switch state.phase {
        case .new where state.activity == .idle:
            // It was overtaken before it had begun.
            return report(&state, outcome)
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
