internal import FoundationEssentials
internal import Storage

/// Refuses sign-ins to an account after too many failures in the same budget, whether the account exists or not.
enum SignInLock {
    /// The locks of installations that are not known to the account, after each ``SessionRepository/maxFailedSignIns`` failures of 24
    /// hours; the last one for all further ones.
    static let growingLocks: [Duration] = [.seconds(60), .seconds(5 * 60), .seconds(15 * 60), .seconds(60 * 60)]
    /// The `Retry-After` in seconds while undecided sign-ins could use up the budget.
    private static let undecidedWait = 2

    /// Refuses another sign-in when its budget is used up, or could be by the undecided ones.
    ///
    /// A known installation's failures count for 15 minutes, and five lock it until the first has aged. Those of all other installations
    /// count together for a day, and each five lock them for longer: an attacker who guesses gets some 120 attempts a day, and does not
    /// lock the owner's phone.
    ///
    /// Undecided sign-ins are not failures, so they do not lock the account. But a burst of them is refused until the first are decided:
    /// otherwise it would allow any number of attempts.
    ///
    /// - Throws: `account_locked` until the lock ends; `overloaded` while sign-ins are undecided.
    static func check(_ attempts: SignInAttempts, now: Date = Date()) throws(APIError) {
        if let end = lockEnd(of: attempts), end > now {
            let seconds = Int(end.timeIntervalSince(now).rounded(.up))
            throw APIError(.accountLocked, "Too many failed sign-ins; try again later", retryAfter: max(seconds, 1))
        }
        let max = SessionRepository.maxFailedSignIns
        let left = attempts.isKnown ? max - attempts.failedAt.count : max - attempts.failedAt.count % max
        guard attempts.undecided < left else {
            throw APIError(
                .overloaded, "Earlier sign-ins of this account are not decided yet", retryAfter: undecidedWait)
        }
    }

    /// The end of the lock that the failures have caused, which may be over; nil when there are too few.
    private static func lockEnd(of attempts: SignInAttempts) -> Date? {
        let failures = attempts.failedAt.sorted()
        let locks = failures.count / SessionRepository.maxFailedSignIns
        guard locks > 0 else { return nil }
        if attempts.isKnown {
            // The lock ends when fewer failures than the limit are left in the window.
            let decisive = failures[failures.count - SessionRepository.maxFailedSignIns]
            return decisive.addingTimeInterval(SessionRepository.failedSignInWindow / .seconds(1))
        }
        let decisive = failures[locks * SessionRepository.maxFailedSignIns - 1]
        return decisive.addingTimeInterval(growingLocks[min(locks, growingLocks.count) - 1] / .seconds(1))
    }
}
