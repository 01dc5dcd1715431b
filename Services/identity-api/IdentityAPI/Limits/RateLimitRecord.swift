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

    /// Says in the response which limits the request counted against, and what is left of them.
    ///
    /// The fields are lists of structured fields (RFC 9651), as draft-ietf-httpapi-ratelimit-headers-10 describes them: `q` is the quota,
    /// `w` the seconds in which it is regained, `r` what is left, `t` the seconds until all of it is there again.
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
    /// Takes a token for a request, and notes what is left for its response.
    ///
    /// - Throws: `rate_limited` with this message.
    func admit(_ key: Key, _ limits: RateLimitRecord, or message: String) throws(APIError) {
        guard let state = state(taking: key) else { return }
        limits.note(state)
        if let wait = state.wait { throw .rateLimited(message, wait: wait) }
    }
}
