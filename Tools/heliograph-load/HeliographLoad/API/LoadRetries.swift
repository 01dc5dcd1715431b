internal import Synchronization

/// Decides which requests are sent again, as an app does, and counts them.
///
/// A request that got no answer is sent again with the same `X-Request-ID` and the same body: the API then acts once
/// (`docs/api/sessions.md`, `docs/api/pictures.md`). An answer is never asked for again, except that the first one is still under way.
final class LoadRetries: Sendable {
    /// The pause before a request is sent again.
    static let pause: Duration = .milliseconds(500)

    /// The time for which a request is sent again; zero for never.
    let time: Duration
    private let state = Mutex<[String: Int]>([:])

    init(time: Duration) { self.time = time }

    /// The numbers of requests that were sent again, by the failure before.
    var counts: [String: Int] { state.withLock { $0 } }

    /// Returns whether a failed request is sent again, and counts the repetition.
    ///
    /// - Parameters:
    ///   - start: The time of the first attempt.
    ///   - isRepetition: Whether an earlier attempt got no answer.
    func admits(_ failure: LoadFailure, since start: ContinuousClock.Instant, isRepetition: Bool) -> Bool {
        let isUnanswered = ["no connection", "connection lost"].contains(failure.reason)
        let isUnderWay = isRepetition && failure.reason == "409 request_in_progress"
        guard isUnanswered || isUnderWay, ContinuousClock.now + Self.pause < start + time else { return false }
        state.withLock { $0[failure.reason, default: 0] += 1 }
        return true
    }
}
