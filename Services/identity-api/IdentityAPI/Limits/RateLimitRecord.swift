internal import HTTPTypes
internal import Synchronization

/// The buckets that a request has taken from, for the headers of its response.
final class RateLimitRecord: Sendable {
    private let states = Mutex<[RateLimitState]>([])

    /// Notes a bucket; a later state of the same one replaces the earlier.
    func note(_ state: RateLimitState) {
        states.withLock { states in
            states.removeAll { $0.name == state.name }
            states.append(state)
        }
    }

    /// Reports in the response the limits that the request counted against, and their remaining quota.
    ///
    /// The fields are lists of structured fields (RFC 9651), as draft-ietf-httpapi-ratelimit-headers-10 describes them: `q` is the quota,
    /// `w` the seconds in which it refills, `r` the remaining quota, `t` the seconds until it is full again.
    func write(to headers: inout HTTPFields) {
        let states = states.withLock(\.self)
        guard !states.isEmpty else { return }
        headers[.rateLimitPolicy] =
            states.map { "\"\($0.name)\";q=\($0.quota);w=\($0.window.wholeSecondsUp)" }.joined(separator: ", ")
        headers[.rateLimit] =
            states.map { "\"\($0.name)\";r=\($0.remaining);t=\($0.reset.wholeSecondsUp)" }.joined(separator: ", ")
    }
}

extension RateLimiter {
    /// Takes a token for a request, and notes the remaining quota for its response.
    ///
    /// - Throws: `rate_limited` with this message.
    func admit(_ key: Key, _ limits: RateLimitRecord, or message: String) throws(APIError) {
        guard let state = state(taking: key) else { return }
        limits.note(state)
        if let wait = state.wait { throw .rateLimited(message, wait: wait) }
    }
}
