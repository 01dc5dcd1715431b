internal import FoundationEssentials
internal import Storage

/// Refuses sign-ins to an account on whose budget too many have failed, whether the account exists or not.
enum SignInLock {
    /// When to try again while so many are undecided that they could use up the budget, in seconds.
    private static let undecidedWait = 2

    /// Refuses another sign-in on a budget that is used up, or could be by those that are under way.
    ///
    /// Undecided ones are no failures, so they lock nothing. But a burst of them is not let in before the first are decided: it
    /// would be as many tries as it likes.
    ///
    /// - Throws: `account_locked` until enough failures have aged; `overloaded` while sign-ins are undecided.
    static func check(_ attempts: SignInAttempts, now: Date = Date()) throws(APIError) {
        let surplus = attempts.failedAt.count - SessionRepository.maxFailedSignIns
        if surplus >= 0 {
            // The lock opens when so many failures have aged that fewer than the limit are left.
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
