internal import AsyncPrimitives
internal import FoundationEssentials
internal import Logging
internal import Metrics
internal import PostgresClient
internal import Push
internal import Synchronization
internal import WireFormat

/// Limits the pushes of each installation to what FCM accepts for a device; FCM would drop the rest silently.
///
/// A push to an installation with few pushes, which nearly all are, costs three counters in memory. Pushes beyond ``freePerMinute``
/// take tokens, a slice at a time, from buckets that all notifiers share. Four notifiers keep each installation below 210 pushes a
/// minute and 5,000 an hour.
final class InstallRates: Sendable {
    /// Pushes per minute that each notifier sends to an installation without tokens of the shared bucket.
    static let freePerMinute = 6
    /// Pushes per minute about sign-ups and sign-ins that each notifier sends to an installation; further ones wait for the next
    /// minute. A person makes fewer; an attacker who knows a phone's token can request any number.
    static let sessionsPerMinute = 10
    /// The tokens that are requested at once.
    static let slice = 10
    /// The lifetime of a grant.
    static let grantTime: Duration = .seconds(10)

    /// Takes tokens for `count` pushes to an installation from the shared buckets.
    typealias Take = @Sendable (_ installID: UUID, _ count: Int) async -> PushRateGrant

    /// The state of an installation with more than ``freePerMinute`` pushes.
    private struct Account {
        /// The tokens left.
        var left = 0
        /// The end of the grant, or of the time for which the bucket has no tokens.
        var until: ContinuousClock.Instant
        /// The distance between the retries of pushes that have to wait.
        var spacing: Duration = .zero
        /// The time of the next retry slot.
        var nextTurn: ContinuousClock.Instant
        var pendingTake: Task<Void, Never>?
    }

    private struct State {
        var seen = CountSketch()
        var seenSessions = CountSketch()
        var minuteEnd: ContinuousClock.Instant
        var accounts: [UUID: Account] = [:]
    }

    /// The decision on a push.
    enum Admission: Sendable {
        case go
        /// It has to be retried after this time.
        case wait(Duration)
        /// It has to be decided again, without being counted again, when this task has ended.
        case awaitGrant(Task<Void, Never>)
    }

    private let state: Mutex<State>
    private let take: Take
    private let clock: any MonotonicClock

    init(clock: any MonotonicClock = ContinuousClock(), take: @escaping Take) {
        self.clock = clock
        self.take = take
        state = Mutex(State(minuteEnd: clock.now + .seconds(60)))
    }

    /// Uses the buckets in the database. While the database does not answer, pushes are sent: they were claimed from it just now.
    convenience init(postgres: PostgresClient, logger: Logger, clock: any MonotonicClock) {
        self.init(clock: clock) { installID, count in
            do {
                return try await postgres.withTransaction { transaction in
                    try await transaction.forceIndexPlans(replan: false)
                    return try await PushRateRepository(transaction).take(count, installID: installID)
                }
            } catch {
                logger.warning("rate tokens of an installation could not be taken", metadata: ["error": "\(error)"])
                return PushRateGrant(count: count, wait: .zero)
            }
        }
    }

    /// Decides whether a push to an installation may be sent now.
    ///
    /// Pushes about sign-ups and sign-ins, for which the user waits with the phone in hand, have a limit of their own: other pushes to
    /// the installation do not delay them.
    ///
    /// - Parameter isCounted: Whether an earlier call has counted the push.
    func admit(_ installID: UUID, _ kind: NotificationKind, isCounted: Bool = false) -> Admission {
        var admission = Admission.go
        if kind.type.isSessionResult {
            if let wait = countSession(installID) { admission = .wait(wait) }
        } else if isCounted || count(installID) > Self.freePerMinute {
            admission = decide(installID)
        }
        if case .wait = admission {
            Counter(label: "push_installation_rate_waits_total", dimensions: [("kind", kind.rawValue)]).increment()
        }
        return admission
    }

    private func count(_ installID: UUID) -> Int {
        let now = clock.now
        return state.withLock { state in
            Self.beginMinute(&state, now)
            return state.seen.add(installID)
        }
    }

    /// Counts a push about a sign-up or sign-in, also towards the limit of the other pushes.
    ///
    /// - Returns: How long it has to wait; nil when it may be sent.
    private func countSession(_ installID: UUID) -> Duration? {
        let now = clock.now
        return state.withLock { state in
            Self.beginMinute(&state, now)
            _ = state.seen.add(installID)
            return state.seenSessions.add(installID) > Self.sessionsPerMinute ? state.minuteEnd - now : nil
        }
    }

    private static func beginMinute(_ state: inout State, _ now: ContinuousClock.Instant) {
        guard now >= state.minuteEnd else { return }
        state.minuteEnd = now + .seconds(60)
        state.seen.clear()
        state.seenSessions.clear()
        state.accounts = state.accounts.filter { $1.pendingTake != nil || $1.until > now || $1.nextTurn > now }
    }

    private func decide(_ installID: UUID) -> Admission {
        let now = clock.now
        return state.withLock { state in
            var account = state.accounts[installID] ?? Account(until: now, nextTurn: now)
            defer { state.accounts[installID] = account }
            if let task = account.pendingTake { return .awaitGrant(task) }
            if now < account.until {
                if account.left > 0 {
                    account.left -= 1
                    return .go
                }
                if account.spacing > .zero {
                    // Each gets a slot of its own, so that they do not all come back at once and have to wait again.
                    let turn = max(account.nextTurn, account.until)
                    account.nextTurn = turn + account.spacing
                    return .wait(turn - now)
                }
            }
            // An unstructured task: the caller may be cancelled while other pushes still need the grant.
            let task = Task { await self.requestGrant(installID) }
            account.pendingTake = task
            return .awaitGrant(task)
        }
    }

    private func requestGrant(_ installID: UUID) async {
        let grant = await take(installID, Self.slice)
        let now = clock.now
        state.withLock { state in
            guard var account = state.accounts[installID] else { return }
            account.pendingTake = nil
            account.left = grant.count
            account.spacing = grant.count > 0 ? .zero : max(grant.wait, .seconds(1)) / Self.slice
            account.until = now + (grant.count > 0 ? Self.grantTime : max(grant.wait, .seconds(1)))
            state.accounts[installID] = account
        }
    }
}
