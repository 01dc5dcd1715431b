internal import Foundation
internal import Synchronization

/// Somebody who has an account, and a phone.
final class LoadAccount: Sendable {
    /// What somebody who is signed in has.
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
    /// An event that is this account's, for its photos.
    let topic: String
    private let held = Mutex<Tokens?>(nil)

    init(email: String, phone: String, person: LoadPerson) {
        self.email = email
        self.phone = phone
        self.person = person
        topic = "event:load-\(UUID().uuidString.lowercased())"
    }

    var tokens: Tokens? { held.withLock { $0 } }

    func hold(_ tokens: Tokens) { held.withLock { $0 = tokens } }

    /// The bearer of a request.
    func bearer(for stage: LoadStage?) throws(LoadFailure) -> String {
        guard let tokens else { throw LoadFailure(at: stage, "not signed in") }
        return tokens.access
    }
}

/// Lends accounts to what is done: the least busy first, none more often at once than the API lets it, and none that was
/// told to wait.
final class LoadAccounts: Sendable {
    private struct Place {
        let account: LoadAccount
        var lent = 0
        var restsUntil: ContinuousClock.Instant?
        /// Its tokens are about to be exchanged, which must not happen under somebody who uses them.
        var isHeldBack = false
    }

    let all: [LoadAccount]
    private let lentMax: Int
    private let state: Mutex<(places: [Place], next: Int)>

    /// - Parameter lentMax: how often one account may be lent at a time.
    init(_ accounts: [LoadAccount], lentMax: Int) {
        all = accounts
        self.lentMax = lentMax
        state = Mutex((accounts.map { Place(account: $0) }, 0))
    }

    /// What was lent, for giving it back.
    struct Loan {
        let account: LoadAccount
        fileprivate let index: Int
    }

    /// Lends an account; nil when there is none to be had now.
    func lend() -> Loan? {
        let now = ContinuousClock.now
        return state.withLock { state in
            let count = state.places.count
            let free = (0..<count).map { (state.next + $0) % count }.filter { index in
                let place = state.places[index]
                return place.lent < lentMax && !place.isHeldBack && place.restsUntil.map { $0 <= now } ?? true
            }
            guard let index = free.min(by: { state.places[$0].lent < state.places[$1].lent }) else { return nil }
            state.places[index].lent += 1
            state.next = (index + 1) % count
            return Loan(account: state.places[index].account, index: index)
        }
    }

    /// Takes an account back; it is not lent while it was told to wait.
    func giveBack(_ loan: Loan, restFor rest: Duration?) {
        state.withLock { state in
            state.places[loan.index].lent -= 1
            if let rest { state.places[loan.index].restsUntil = .now + rest }
        }
    }

    /// Takes an account for oneself whose tokens end before an instant: it is lent to nobody from here on, and returned once it
    /// is with nobody. Nil when there is none, or it is not back yet. One at a time, so that the others go on.
    func holdBack(expiringBefore instant: ContinuousClock.Instant) -> Loan? {
        state.withLock { state in
            let index = state.places.firstIndex { $0.account.tokens.map { $0.expiry < instant } ?? false }
            guard let index else { return nil }
            state.places[index].isHeldBack = true
            return state.places[index].lent == 0 ? Loan(account: state.places[index].account, index: index) : nil
        }
    }

    /// Lends an account again that was held back.
    func release(_ loan: Loan) { state.withLock { $0.places[loan.index].isHeldBack = false } }
}
