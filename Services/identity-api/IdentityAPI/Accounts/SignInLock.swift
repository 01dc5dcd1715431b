internal import Accounts
internal import FoundationEssentials

/// Refuses sign-ins to an account after too many failures in the same budget, whether the account exists or not.
enum SignInLock {
    /// The `Retry-After` in seconds while undecided sign-ins could use up the budget.
    private static let undecidedWait = 2

    /// Refuses another sign-in when the account's budget is used up, or when the undecided sign-ins could exhaust it.
    ///
    /// Undecided sign-ins are not failures, so they do not lock the account. But a burst of them is refused until the first are decided:
    /// otherwise it would allow any number of attempts.
    ///
    /// - Throws: `account_locked` until the lock ends; `overloaded` while sign-ins are undecided.
    static func check(_ attempts: SignInAttempts, now: Date = Date()) throws(APIError) {
        let budget = attempts.budget(at: now)
        if let end = budget.lockedUntil {
            let seconds = Int(end.timeIntervalSince(now).rounded(.up))
            var error = APIError(.accountLocked, "Too many failed sign-ins; try again later", retryAfter: max(seconds, 1))
            error.attemptsLeft = budget.attemptsLeft
            throw error
        }
        guard attempts.undecided < budget.attemptsLeft else {
            throw APIError(
                .overloaded, "Earlier sign-ins of this account are not decided yet", retryAfter: undecidedWait)
        }
    }
}
