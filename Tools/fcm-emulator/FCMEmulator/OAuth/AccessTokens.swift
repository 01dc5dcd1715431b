import FoundationEssentials
import Synchronization

/// The newest access tokens issued; the oldest are removed above the limit.
final class AccessTokens: Sendable {
    /// The validity of a token.
    enum Standing { case valid, expired, unknown }

    private struct State {
        var expiries: [String: Date] = [:]
        var order: [String] = []
        var issued = 0
    }

    private let state = Mutex(State())
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// Number of tokens issued since the start.
    var issuedCount: Int { state.withLock { $0.issued } }

    /// Issues a token that expires at that time.
    func issue(expires: Date) -> String {
        let token = "ya29.c." + RandomText.urlSafe(160)
        state.withLock { state in
            state.expiries[token] = expires
            state.order.append(token)
            state.issued += 1
            if state.order.count > limit { state.expiries[state.order.removeFirst()] = nil }
        }
        return token
    }

    func standing(of token: String, now: Date) -> Standing {
        guard let expiry = state.withLock({ $0.expiries[token] }) else { return .unknown }
        return expiry > now ? .valid : .expired
    }

    /// Makes every token issued so far unknown, as revoking the key does.
    func revokeAll() {
        state.withLock { state in
            state.expiries = [:]
            state.order = []
        }
    }
}
