public import FoundationEssentials

/// The attempts that the failed sign-ins of a budget leave at a time. The lock of sign-ins, and `attempts_left` and `retryable` of a failed
/// session, are computed from it.
public struct SignInBudget: Sendable, Equatable {
    /// The locks of installations that are not known to the account, after each ``SessionRepository/maxFailedSignIns`` failures of 24
    /// hours; the last one for all further ones.
    public static let growingLocks: [Duration] = [.seconds(60), .seconds(5 * 60), .seconds(15 * 60), .seconds(60 * 60)]

    /// The sign-ins that may still fail; 0 exactly while a lock holds.
    public let attemptsLeft: Int
    /// The end of the lock; nil without one.
    public let lockedUntil: Date?

    /// Applies the rules of locks.
    ///
    /// A known device's failures count for 15 minutes, and five lock it until the first has aged. The failures of all other
    /// installations count together for a day, and every five of them lock these installations for longer: an attacker who guesses gets
    /// some 120 attempts a day, and does not lock the owner's phone.
    ///
    /// - Parameters:
    ///   - failedAt: The times of the failed sign-ins of the budget.
    ///   - isKnown: Whether the budget belongs to a known device.
    public init(failedAt: [Date], isKnown: Bool, at now: Date) {
        let max = SessionRepository.maxFailedSignIns
        let window = (isKnown ? SessionRepository.failedSignInWindow : SessionRepository.strangersWindow) / .seconds(1)
        let failures = failedAt.filter { $0 > now.addingTimeInterval(-window) }.sorted()
        let locks = failures.count / max
        var end: Date?
        if locks > 0 {
            end =
                isKnown
                // Then fewer failures than the limit are left in the window.
                ? failures[failures.count - max].addingTimeInterval(window)
                : failures[locks * max - 1].addingTimeInterval(Self.growingLocks[min(locks, Self.growingLocks.count) - 1] / .seconds(1))
        }
        lockedUntil = end.flatMap { $0 > now ? $0 : nil }
        attemptsLeft = lockedUntil == nil ? max - failures.count % max : 0
    }
}
