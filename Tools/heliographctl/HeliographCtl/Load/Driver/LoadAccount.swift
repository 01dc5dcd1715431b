internal import Foundation
internal import Synchronization
internal import WireFormat

/// An account of the load, with its person, its phone and its tokens.
final class LoadAccount: Sendable {
    /// The tokens of a signed-in account.
    struct Tokens {
        let access: String
        let refresh: String
        let expiry: ContinuousClock.Instant
        let userID: String
    }

    let email: String
    /// The phone's push token.
    let phone: String
    let person: LoadPerson
    /// The event topic that this account owns and uploads photos to.
    let topic: String
    private let storedTokens = Mutex<Tokens?>(nil)

    init(email: String, phone: String, person: LoadPerson) {
        self.email = email
        self.phone = phone
        self.person = person
        topic = "event:load-\(UUID().wireString)"
    }

    var tokens: Tokens? { storedTokens.withLock { $0 } }

    func store(_ tokens: Tokens) { storedTokens.withLock { $0 = tokens } }

    /// The bearer token for a request.
    ///
    /// - Throws: `LoadFailure` when the account is not signed in.
    func bearer(for stage: LoadStage?) throws(LoadFailure) -> String {
        guard let tokens else { throw LoadFailure(at: stage, "not signed in") }
        return tokens.access
    }
}

/// Leases accounts to actions: the least busy first, with at most `maxLeases` at once for each account, and none while the API's
/// Retry-After for the account lasts.
final class LoadAccounts: Sendable {
    private struct Entry {
        let account: LoadAccount
        var leases = 0
        var restsUntil: ContinuousClock.Instant?
        /// Its tokens are about to be exchanged, which must not happen while an action uses them.
        var isReserved = false
    }

    let all: [LoadAccount]
    private let maxLeases: Int
    private let state: Mutex<(entries: [Entry], next: Int)>

    /// - Parameter maxLeases: the number of leases of one account at a time.
    init(_ accounts: [LoadAccount], maxLeases: Int) {
        all = accounts
        self.maxLeases = maxLeases
        state = Mutex((accounts.map { Entry(account: $0) }, 0))
    }

    /// A leased account; it must be released.
    struct Lease {
        let account: LoadAccount
        fileprivate let index: Int
    }

    /// Leases an account; nil when none is free.
    func lease() -> Lease? {
        let now = ContinuousClock.now
        return state.withLock { state in
            let count = state.entries.count
            let free = (0..<count).map { (state.next + $0) % count }.filter { index in
                let entry = state.entries[index]
                return entry.leases < maxLeases && !entry.isReserved && entry.restsUntil.map { $0 <= now } ?? true
            }
            guard let index = free.min(by: { state.entries[$0].leases < state.entries[$1].leases }) else { return nil }
            state.entries[index].leases += 1
            state.next = (index + 1) % count
            return Lease(account: state.entries[index].account, index: index)
        }
    }

    /// Ends a lease; the account is not leased again before `rest` has passed.
    func release(_ lease: Lease, restFor rest: Duration?) {
        state.withLock { state in
            state.entries[lease.index].leases -= 1
            if let rest { state.entries[lease.index].restsUntil = .now + rest }
        }
    }

    /// Reserves an account whose tokens expire before an instant: it gets no new leases, and is returned once its leases have ended.
    ///
    /// Nil when there is no such account, or it still has leases. One account at a time, so that the others stay available.
    func reserve(expiringBefore instant: ContinuousClock.Instant) -> Lease? {
        state.withLock { state in
            let index = state.entries.firstIndex { $0.account.tokens.map { $0.expiry < instant } ?? false }
            guard let index else { return nil }
            state.entries[index].isReserved = true
            return state.entries[index].leases == 0 ? Lease(account: state.entries[index].account, index: index) : nil
        }
    }

    /// Ends a reservation, so that the account is leased again.
    func endReservation(_ lease: Lease) { state.withLock { $0.entries[lease.index].isReserved = false } }
}
