internal import FoundationEssentials
internal import Storage

/// Refuses sign-ins to an account at which too many have failed, whether it exists or not.
enum SignInLock {
    /// Refuses another sign-in of a locked account.
    ///
    /// Sign-ins that are still undecided count as failed ones: otherwise a burst of them would all be let in before
    /// the first is decided.
    static func check(_ attempts: SignInAttempts, now: Date = Date()) throws(APIError) {
        let surplus = attempts.failedAt.count + attempts.undecided - SessionRepository.maxFailedSignIns
        guard surplus >= 0 else { return }
        // The lock opens when so many failures have aged that fewer than the limit are left.
        let seconds = attempts.failedAt.sorted().dropFirst(surplus).first.map { oldest in
            let window = Double(SessionRepository.failedSignInWindow.components.seconds)
            return Int((oldest.timeIntervalSince(now) + window).rounded(.up))
        }
        throw APIError(
            .accountLocked, "Too many failed sign-ins; try again later", retryAfter: max(seconds ?? 10, 1))
    }
}
