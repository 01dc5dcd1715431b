internal import Foundation

extension EKYCSessionReducer {
    static func reduce(_ state: inout State, _ event: Event) -> [Effect] {
        switch event {
        case .begin, .bodyWritten, .recordCreated, .creationFailed: create(&state, event)
        case .launched(let age, let sessionID): launch(&state, age, sessionID)
        case .accepted, .postFailed: upload(&state, event)
        case .answered, .askFailed: decide(&state, event)
        case .redeemed, .redeemFailed, .stored, .storingFailed: signIn(&state, event)
        case .codeEntered(let code): enter(&state, code)
        case .pauseEnded(let age): next(&state, age)
        case .woken(let age): wake(&state, age)
        case .acknowledged: acknowledge(&state)
        case .stop(let outcome): stop(&state, outcome)
        case .retakeClosed: closeRetake(&state)
        }
    }

    /// Keeps the photos, then the record that names them, and only then sends them.
    private static func create(_ state: inout State, _ event: Event) -> [Effect] {
        switch (event, state.phase, state.activity) {
        case (.begin, .new, .idle):
            state.activity = .creating
            return [.writeBody]
        case (.bodyWritten, .new, .creating):
            return [.createRecord]
        case (.recordCreated, .new, .creating):
            state.phase = .uploading
            return [.show(.uploading)] + post(&state)
        case (.creationFailed(let fault), .new, .creating):
            state.activity = .idle
            state.phase = .removed
            // The record may have been written although its writing failed. It goes first: no record is without its photos.
            return [.removeRecord, .deleteSecret, .deleteBody, .refuseCreation(fault)]
        default: return []
        }
    }

    private static func launch(_ state: inout State, _ age: Age, _ sessionID: UUID?) -> [Effect] {
        guard state.activity == .idle else { return [] }
        switch state.phase {
        case .new, .removed: return []
        case .uploading:
            // The former process may already have sent the photos.
            state.mayHaveBegun = true
            if let sessionID { return awaitDecision(&state, sessionID) + ask(&state) }
            guard age == .repeatable else { return end(&state, .outcomeUnknown) }
            return [.show(.uploading)] + post(&state)
        case .deciding(let id):
            guard age != .over else { return end(&state, unanswered(state)) }
            return [.deleteBody, .show(.examining(sessionID: id))] + ask(&state)
        case .awaitingCode(let id, let awaited):
            guard age != .over else { return end(&state, .tooLate) }
            // The code may have been entered, and its answer lost.
            return [.deleteBody, .show(.awaitingCode(sessionID: id, awaited, attemptsLeft: nil))] + redeem(&state)
        case .signingIn(let id, _):
            return [.deleteBody, .show(.signingIn(sessionID: id))] + redeem(&state)
        case .ended(let outcome): return cleanUp(&state, outcome, hasToken: sessionID != nil)
        }
    }

    /// Takes the step after a pause, if the session is not too old for it.
    private static func next(_ state: inout State, _ age: Age, isWoken: Bool = false) -> [Effect] {
        guard case .pausing(let next) = state.activity else { return [] }
        switch next {
        case .post where age != .repeatable:
            let refusal = state.mayHaveBegun ? nil : state.lastRefusal
            return end(&state, refusal.map { .refused($0.error) } ?? .outcomeUnknown)
        case .post: return post(&state)
        case .ask where age == .over: return end(&state, unanswered(state))
        case .ask: return ask(&state, isWoken: isWoken)
        case .redeem(let code): return redeem(&state, code: code)
        case .store(let tokens): return store(&state, tokens)
        }
    }

    /// Asks at once instead of after the pause, or once more after the question that is under way.
    private static func wake(_ state: inout State, _ age: Age) -> [Effect] {
        switch state.activity {
        case .pausing: return [.cancel] + next(&state, age, isWoken: true)
        case .asking:
            state.isWoken = true
            return []
        case .idle, .creating, .posting, .redeeming, .redeemingInVain, .storing, .awaitingRetake: return []
        }
    }
}
