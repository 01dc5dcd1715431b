internal import Foundation
internal import Synchronization
internal import WireFormat

/// An account of the load, with its person, its phone, its tokens and its leases.
final class LoadAccount: Sendable {
    /// The tokens of a signed-in account.
    struct Tokens {
        let access: String
        let refresh: String
        let expiry: ContinuousClock.Instant
        let userID: String
    }

    private struct State {
        var tokens: Tokens?
        /// The number of actions that use the account.
        var leases = 0
        /// The time before which the account is not leased.
        var restsUntil = ContinuousClock.now
    }

    let email: String
    /// The phone's push token.
    let phone: String
    let person: LoadPerson
    /// The event topic that this account owns and uploads photos to.
    let topic = "event:load-\(UUID().wireString)"
    private let state = Mutex(State())

    init(email: String, phone: String, person: LoadPerson) {
        self.email = email
        self.phone = phone
        self.person = person
    }

    var tokens: Tokens? { state.withLock { $0.tokens } }

    func store(_ tokens: Tokens) { state.withLock { $0.tokens = tokens } }

    /// The bearer token for a request.
    ///
    /// - Throws: `LoadFailure` when the account is not signed in.
    func bearer(for stage: LoadStage?) throws(LoadFailure) -> String {
        guard let tokens else { throw LoadFailure(at: stage, "not signed in") }
        return tokens.access
    }

    /// The number of leases; nil while the account rests.
    fileprivate func leases(at now: ContinuousClock.Instant) -> Int? {
        state.withLock { $0.restsUntil <= now ? $0.leases : nil }
    }

    fileprivate func lease() { state.withLock { $0.leases += 1 } }

    /// Stops new leases of the account, so that its leases end, and returns whether it has no lease any more.
    fileprivate func drain(until instant: ContinuousClock.Instant) -> Bool {
        state.withLock { state in
            state.restsUntil = max(state.restsUntil, instant)
            return state.leases == 0
        }
    }

    /// Ends a lease; with `rest`, the account is not leased again before it has passed.
    func release(restFor rest: Duration? = nil) {
        state.withLock { state in
            state.leases -= 1
            if let rest { state.restsUntil = .now + rest }
        }
    }
}

/// Leases accounts to actions: the least busy first, with at most `maxLeases` at once for each account, and no leases while the API's
/// Retry-After for the account lasts.
final class LoadAccounts: Sendable {
    /// Time for which an account whose tokens expire gets no new leases; it is extended until the account has no lease.
    private static let drainTime: Duration = .seconds(1)

    let all: [LoadAccount]
    private let maxLeases: Int
    /// The position from which the next account is sought, so that equally busy accounts take turns.
    private let next = Mutex(0)

    /// - Parameter maxLeases: the number of leases of one account at a time.
    init(_ accounts: [LoadAccount], maxLeases: Int) {
        all = accounts
        self.maxLeases = maxLeases
    }

    /// Leases an account, which must be released; nil when no account is free.
    func lease() -> LoadAccount? {
        let now = ContinuousClock.now
        return next.withLock { next in
            let positions = all.indices.map { (next + $0) % all.count }
            let free = positions.compactMap { position in all[position].leases(at: now).map { (position, leases: $0) } }
            guard let (position, leases) = free.min(by: { $0.leases < $1.leases }), leases < maxLeases else { return nil }
            next = position + 1
            all[position].lease()
            return all[position]
        }
    }

    /// Leases an account whose tokens expire before an instant, when no action uses it, so that they can be exchanged.
    ///
    /// Nil when there is no such account, or it still has leases: it then gets no new ones for a second.
    func lease(expiringBefore instant: ContinuousClock.Instant) -> LoadAccount? {
        next.withLock { _ in
            guard let account = all.first(where: { $0.tokens.map { $0.expiry < instant } ?? false }),
                account.drain(until: .now + Self.drainTime)
            else { return nil }
            account.lease()
            return account
        }
    }
}
