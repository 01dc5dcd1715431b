internal import FoundationEssentials
internal import Logging
internal import Metrics
internal import PostgresClient
internal import Storage
internal import Synchronization
internal import WireFormat

/// Sees to it that no installation is sent more than FCM lets a device have; FCM would drop the rest without a word.
///
/// A push to somebody who gets few, which are nearly all, costs three counters in memory. Only what one installation gets beyond
/// ``freePerMinute`` is taken, some at a time, from buckets that all notifiers share. Four of them keep each installation below
/// 210 pushes a minute and 5,000 an hour.
final class InstallRates: Sendable {
    /// So many a minute each notifier sends to an installation without asking.
    static let freePerMinute = 6
    /// So many pushes about sign-ups and sign-ins each notifier sends to an installation in a minute; the others wait for the next
    /// minute. A person makes fewer; who knows a phone's token can ask for any number.
    static let sessionsPerMinute = 10
    /// How many are asked for at once.
    static let slice = 10
    /// How long leave is good for.
    static let leaveTime: Duration = .seconds(10)

    /// Takes leave for some pushes to an installation from the shared buckets.
    typealias Take = @Sendable (_ installID: UUID, _ count: Int) async -> PushRateGrant

    /// What is known of an installation that gets many.
    private struct Account {
        var left = 0
        /// Until when the leave is good, or none is to be had.
        var until: ContinuousClock.Instant
        /// How far apart those are sent that have to wait.
        var spacing: Duration = .zero
        /// When the next that has to wait may come again.
        var nextTurn: ContinuousClock.Instant
        var asking: Task<Void, Never>?
    }

    private struct State {
        var seen = CountSketch()
        var seenSessions = CountSketch()
        var minuteEnd: ContinuousClock.Instant
        var accounts: [UUID: Account] = [:]
    }

    /// What a push may do.
    enum Admission: Sendable {
        case go
        /// It may come again after that time.
        case wait(Duration)
        /// It may ask again, without being counted again, when this has ended.
        case ask(Task<Void, Never>)
    }

    private let state: Mutex<State>
    private let take: Take
    private let clock: @Sendable () -> ContinuousClock.Instant

    init(clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }, take: @escaping Take) {
        self.clock = clock
        self.take = take
        state = Mutex(State(minuteEnd: clock() + .seconds(60)))
    }

    /// Shares the buckets of a database. While it does not answer, pushes go: they were claimed from it just now.
    convenience init(postgres: PostgresClient, logger: Logger) {
        self.init { installID, count in
            do {
                return try await postgres.withTransaction { transaction in
                    try await transaction.findByKey(planningAnew: false)
                    return try await PushRateRepository(transaction).take(count, installID: installID)
                }
            } catch {
                logger.warning("no leave to send to an installation could be had", metadata: ["error": "\(error)"])
                return PushRateGrant(count: count, wait: .zero)
            }
        }
    }

    /// Lets a push to an installation go, or says for how long or for what it has to wait.
    ///
    /// The push about a sign-up or sign-in, which its user waits for with the phone in hand, has a limit of its own: what else the
    /// installation gets does not delay it.
    ///
    /// - Parameter isCounted: Whether the push was counted when it asked before.
    func admit(_ installID: UUID, _ kind: NotificationKind, isCounted: Bool = false) -> Admission {
        var admission = Admission.go
        if kind.isOfSession {
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
        let now = clock()
        return state.withLock { state in
            Self.beginMinute(&state, now)
            return state.seen.add(installID)
        }
    }

    /// Counts a push about a sign-up or sign-in, for the others too.
    ///
    /// - Returns: How long it has to wait; nil when it may go.
    private func countSession(_ installID: UUID) -> Duration? {
        let now = clock()
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
        state.accounts = state.accounts.filter { $1.asking != nil || $1.until > now || $1.nextTurn > now }
    }

    private func decide(_ installID: UUID) -> Admission {
        let now = clock()
        return state.withLock { state in
            var account = state.accounts[installID] ?? Account(until: now, nextTurn: now)
            defer { state.accounts[installID] = account }
            if let task = account.asking { return .ask(task) }
            if now < account.until {
                if account.left > 0 {
                    account.left -= 1
                    return .go
                }
                if account.spacing > .zero {
                    // Each has a turn of its own, so that they do not all come back to be sent away again.
                    let turn = max(account.nextTurn, account.until)
                    account.nextTurn = turn + account.spacing
                    return .wait(turn - now)
                }
            }
            // A task of its own: whoever asked may be cancelled, and the others still want the leave.
            let task = Task { await self.ask(installID) }
            account.asking = task
            return .ask(task)
        }
    }

    private func ask(_ installID: UUID) async {
        let grant = await take(installID, Self.slice)
        let now = clock()
        state.withLock { state in
            guard var account = state.accounts[installID] else { return }
            account.asking = nil
            account.left = grant.count
            account.spacing = grant.count > 0 ? .zero : max(grant.wait, .seconds(1)) / Self.slice
            account.until = now + (grant.count > 0 ? Self.leaveTime : max(grant.wait, .seconds(1)))
            state.accounts[installID] = account
        }
    }
}

extension NotificationKind {
    /// Whether it tells how a sign-up or sign-in ended.
    fileprivate var isOfSession: Bool {
        switch self {
        case .jobCompleted, .jobFailed, .newPhotos, .chatMessage, .invitation: false
        case .signUp, .signIn: true
        }
    }
}
