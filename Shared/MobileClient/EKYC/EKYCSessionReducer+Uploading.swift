internal import Foundation

extension EKYCSessionReducer {
    static func post(_ state: inout State) -> [Effect] {
        state.activity = .posting
        return [.post]
    }

    static func upload(_ state: inout State, _ event: Event) -> [Effect] {
        // An answer that comes after the session was stopped has no effect.
        guard state.activity == .posting else { return [] }
        switch event {
        case .accepted(let sessionID, let token):
            return [.saveToken(sessionID: sessionID, token: token)] + awaitDecision(&state, sessionID) + pause(&state, before: .ask, 3_000)
        case .postFailed(let fault):
            return failUpload(&state, fault)
        default: return []
        }
    }

    /// The API has the photos, and this device the session's token: from now on the API is asked, and the photos are needed no more.
    static func awaitDecision(_ state: inout State, _ sessionID: UUID) -> [Effect] {
        state.phase = .deciding(sessionID: sessionID)
        state.failures = 0
        return [.save(state.phase), .deleteBody, .show(.examining(sessionID: sessionID))]
    }

    private static func failUpload(_ state: inout State, _ fault: Fault) -> [Effect] {
        switch fault.uploadFailure {
        case .refusedContent:
            return end(&state, .refused(fault.error))
        case .refusedSender where !state.mayHaveBegun:
            return end(&state, .refused(fault.error))
        case .refusedSender where !fault.isLimit:
            return end(&state, .outcomeUnknown)
        case .notNow where !state.mayHaveBegun && fault.pause(after: 0) > maxSilentWait:
            return end(&state, .refused(fault.error))
        case .notNow where fault.pause(after: 0) > repetitionTime, .refusedSender where fault.pause(after: 0) > repetitionTime:
            // By then the API will not recognise a repetition any more.
            return end(&state, .outcomeUnknown)
        case .notNow, .refusedSender:
            state.lastRefusal = fault
        case .unknown:
            state.mayHaveBegun = true
        }
        return retry(&state, .post, fault)
    }

    static func pause(_ state: inout State, before next: Next, _ milliseconds: Int) -> [Effect] {
        state.activity = .pausing(before: next)
        return [.pause(milliseconds: milliseconds)]
    }

    static func retry(_ state: inout State, _ next: Next, _ fault: Fault) -> [Effect] {
        let milliseconds = fault.pause(after: state.failures)
        state.failures = min(state.failures + 1, maxCountedFailures)
        return pause(&state, before: next, milliseconds)
    }
}
