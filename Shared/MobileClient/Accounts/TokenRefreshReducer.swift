internal import Foundation

/// Decides when a process renews the tokens of a sign-in: one request at a time, and each right after a look at the store.
///
/// The store, which other processes change too, decides who renews (``CredentialRecord``). The API takes a refresh token once; for 30
/// seconds it answers a repetition alike, and later ends the sign-in. So no request is repeated without a new claim, and an answer is not
/// let go of before it is kept.
enum TokenRefreshReducer: Reducer {
    /// The wish to have another access token.
    struct Need: Hashable, Sendable {
        var signIn: UUID
        /// The access token that has expired or was refused.
        var replacing: String
    }

    /// The right to send one request.
    struct Ticket: Hashable, Sendable {
        /// The process that has made the claim.
        var holder: UUID
        var signIn: UUID
        var refreshToken: String
        /// The claim's time.
        var at: Date
        /// The time after which the request must not be on its way any more.
        var sendBy: Date

        /// Whether the request may be sent: not after a suspension of the process, during which other processes may have gone on, and not
        /// when the clock was set back.
        func maySend(at now: Date) -> Bool { now >= at && now < sendBy }
    }

    enum Phase: Hashable, Sendable {
        case idle
        case claiming
        /// Another process renews, or an attempt has failed.
        case waiting
        case requesting(Ticket)
        case storing(Ticket, AccountTokens)
        case ending(Ticket)
        /// The answer could not be kept. The next need keeps it first.
        case unsaved(Ticket, AccountTokens)
    }

    struct State: Hashable, Sendable {
        var phase = Phase.idle
        var need: Need?
        /// The requests that have failed since the need arose.
        var failures = 0
        /// The looks at the store that found another process at work.
        var waits = 0
        /// The looks after which a need fails.
        var maxWaits = 45
    }

    enum Event: Hashable, Sendable {
        case needed(Need)
        case claimed(CredentialRecord.Verdict)
        /// The store cannot be read or written.
        case storeFailed(HeliographError)
        case waited
        case answered(AccountTokens)
        /// The API has refused the refresh token.
        case refused
        /// The request has no answer, or the answer does not decide about the refresh token.
        case failed(HeliographError)
        /// The time to send was over before the request was sent, as after a suspension of the process.
        case late
        case stored
        case ended
    }

    enum Effect: Hashable, Sendable {
        case claim(Need)
        /// Wait a second or two, more after each failure.
        case wait(failures: Int)
        case request(Ticket)
        case store(Ticket, AccountTokens)
        case lose(Ticket)
        case release
        /// Resume the waiting callers: to read the store again, or with the error why they cannot get a token.
        case finish(HeliographError?)
    }

    static let maxFailures = 3

    static func reduce(_ state: inout State, _ event: Event) -> [Effect] {
        switch (state.phase, event) {
        case (.idle, .needed(let need)):
            (state.phase, state.need) = (.claiming, need)
            return [.claim(need)]
        case (.unsaved(let ticket, let tokens), .needed(let need)):
            (state.phase, state.need) = (.storing(ticket, tokens), need)
            return [.store(ticket, tokens)]
        case (.claiming, .claimed(.granted(let ticket))):
            state.phase = .requesting(ticket)
            return [.request(ticket)]
        case (.claiming, .claimed(.notNeeded)): return finish(&state, nil)
        case (.claiming, .claimed(.busy)):
            state.waits += 1
            guard state.waits < state.maxWaits else {
                return finish(&state, HeliographError(.timedOut, "Another process renews the tokens for too long", isRetryable: true))
            }
            state.phase = .waiting
            return [.wait(failures: 0)]
        case (.waiting, .waited): return claimAgain(&state)
        case (.requesting, .late): return claimAgain(&state)
        case (.requesting(let ticket), .answered(let tokens)):
            state.phase = .storing(ticket, tokens)
            return [.store(ticket, tokens)]
        case (.requesting(let ticket), .refused):
            state.phase = .ending(ticket)
            return [.lose(ticket)]
        case (.requesting, .failed(let error)):
            state.failures += 1
            guard error.isRetryable, error.retryAfter == nil, state.failures < maxFailures else {
                return [.release] + finish(&state, error)
            }
            state.phase = .waiting
            return [.wait(failures: state.failures)]
        case (.storing, .stored), (.ending, .ended): return finish(&state, nil)
        case (.storing(let ticket, let tokens), .storeFailed(let error)):
            let effects = finish(&state, error)
            state.phase = .unsaved(ticket, tokens)
            return effects
        case (.claiming, .storeFailed(let error)), (.ending, .storeFailed(let error)): return finish(&state, error)
        default:
            // A need joins the renewal in progress. Other events belong to a phase that is over.
            return []
        }
    }

    private static func claimAgain(_ state: inout State) -> [Effect] {
        guard let need = state.need else { return finish(&state, nil) }
        state.phase = .claiming
        return [.claim(need)]
    }

    private static func finish(_ state: inout State, _ error: HeliographError?) -> [Effect] {
        state = State(maxWaits: state.maxWaits)
        return [.finish(error)]
    }
}

extension HeliographError: Hashable {
    /// Hashes the code and the status alone; errors that differ in other parts collide.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(status)
    }
}
