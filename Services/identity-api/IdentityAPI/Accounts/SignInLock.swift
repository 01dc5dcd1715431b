internal import FoundationEssentials
internal import Storage

/// How often a face may be wrong: five times in a quarter of an hour, for accounts that exist and for those that do not.
enum SignInLock {
    /// Failed sign-ins after which an account is locked.
    static let maxFailures = 5
    /// How long a failure counts.
    static let window: Duration = .seconds(15 * 60)

    /// Refuses another sign-in of a locked account.
    ///
    /// Sign-ins that are still undecided count as failed ones: otherwise a burst of them would all be let in before
    /// the first is decided.
    static func check(_ attempts: SignInAttempts, now: Date = Date()) throws(APIError) {
        guard attempts.failedAt.count + attempts.undecided >= maxFailures else { return }
        // The lock opens when so many failures have aged that fewer than the limit are left.
        let surplus = attempts.failedAt.count + attempts.undecided - maxFailures
        let seconds = attempts.failedAt.sorted().dropFirst(surplus).first.map { oldest in
            Int((oldest.timeIntervalSince(now) + Double(window.components.seconds)).rounded(.up))
        }
        throw APIError(
            .accountLocked, "Too many failed sign-ins; try again later", retryAfter: max(seconds ?? 10, 1))
    }

    /// How many more failures an account can have.
    static func attemptsLeft(after failures: Int) -> Int { max(maxFailures - failures, 0) }
}
