internal import FoundationEssentials
internal import Storage

/// Refuses sign-ins to an account after too many failures in the same budget, whether the account exists or not.
enum SignInLock {
    /// The `Retry-After` in seconds while undecided sign-ins could use up the budget.
    private static let undecidedWait = 2

    /// Refuses another sign-in when its budget is used up, or could be by the undecided ones.
    ///
    /// Undecided sign-ins are not failures, so they do not lock the account. But a burst of them is refused until the first are decided:
    /// otherwise it would allow any number of attempts.
    ///
    /// - Throws: `account_locked` until enough failures have aged; `overloaded` while sign-ins are undecided.
    static func check(_ attempts: SignInAttempts, now: Date = Date()) throws(APIError) {
        let surplus = attempts.failedAt.count - SessionRepository.maxFailedSignIns
        if surplus >= 0 {
            // The lock ends when fewer failures than the limit are left in the window.
            let window = Double(SessionRepository.failedSignInWindow.components.seconds)
            let seconds = Int((attempts.failedAt.sorted()[surplus].timeIntervalSince(now) + window).rounded(.up))
            throw APIError(.accountLocked, "Too many failed sign-ins; try again later", retryAfter: max(seconds, 1))
        }
        guard surplus + attempts.undecided < 0 else {
            throw APIError(
                .overloaded, "Earlier sign-ins of this account are not decided yet", retryAfter: undecidedWait)
        }
    }
}
