internal import AsyncPrimitives
internal import Logging
internal import PostgresClient
internal import Push
internal import ServiceLifecycle
internal import Synchronization
internal import WireFormat

/// This process's share of the project's FCM quota: it takes tokens from the shared bucket in slices, so that a push costs no query.
///
/// Tokens that are not used within a second are forfeited, which costs nothing: the bucket refills in the same time.
final class Quota: Service {
    /// The tokens that are taken at once, as a share of a second's tokens.
    private static let sliceShare = 0.125
    /// The most tokens that urgent and normal pushes may overdraw, so that none of them waits for a query.
    private static let maxDebt = 100
    /// The lifetime of a grant.
    private static let grantTime: Duration = .seconds(1)
    /// The wait after an empty bucket or a failed query.
    private static let pause: Duration = .milliseconds(50)

    private struct Balance {
        var left = 0
        /// The end of the grant; nil before the first.
        var until: ContinuousClock.Instant?
        var isWanted = false
    }

    private let postgres: PostgresClient
    private let project: String
    let limits: PushQuotaLimits
    private let logger: Logger
    private let clock: any MonotonicClock
    /// The balance of the bulk lane (`true`), and the common balance of the other lanes.
    private let balances = Mutex<[Bool: Balance]>([:])
    private let wanted = AsyncSignal()
    private let onGrant = Mutex<(@Sendable () -> Void)?>(nil)

    init(
        postgres: PostgresClient, project: String, limits: PushQuotaLimits, logger: Logger,
        clock: any MonotonicClock = ContinuousClock()
    ) {
        self.postgres = postgres
        self.project = project
        self.limits = limits
        self.logger = logger
        self.clock = clock
    }

    /// Sets the closure that is called after every grant.
    func whenGranted(_ body: @escaping @Sendable () -> Void) { onGrant.withLock { $0 = body } }

    /// Takes tokens for `count` pushes of a lane, and has ``run()`` fetch more when few are left.
    ///
    /// - Returns: The number of pushes that may be sent.
    func take(_ count: Int, _ lane: Lane) -> Int {
        let now = clock.now
        let (granted, shouldRefill) = balances.withLock { balances in
            var balance = balances[lane == .bulk] ?? Balance()
            if balance.left > 0, let until = balance.until, until <= now { balance.left = 0 }
            let granted = min(count, max(0, balance.left + (lane == .bulk ? 0 : Self.maxDebt)))
            balance.left -= granted
            let shouldRefill = balance.left < max(1, slice / 4) && !balance.isWanted
            if shouldRefill { balance.isWanted = true }
            balances[lane == .bulk] = balance
            return (granted, shouldRefill)
        }
        if shouldRefill { wanted.signal() }
        return granted
    }

    private var slice: Int { max(1, Int(limits.perSecond * Self.sliceShare)) }

    /// Returns the tokens left in the bucket that all notifiers share; nil before the first push of the project.
    func balance() async throws -> PushQuotaBalance? {
        try await PushQuotaRepository(postgres).balance(project: project, limits: limits)
    }

    /// Fetches tokens from the bucket on demand, until a graceful shutdown.
    func run() async throws {
        await withTaskCancellationOrGracefulShutdownHandler {
            while !Task.isCancelled && !Task.isShuttingDownGracefully {
                await wanted.wait()
                for isBulk in [false, true] where balances.withLock({ $0[isBulk]?.isWanted ?? false }) {
                    await refill(isBulk: isBulk)
                }
            }
        } onCancelOrGracefulShutdown: {
            self.wanted.signal()
        }
    }

    private func refill(isBulk: Bool) async {
        var granted = 0
        do {
            granted = try await PushQuotaRepository(postgres).take(slice, project: project, isBulk: isBulk, limits: limits)
        } catch {
            logger.warning("quota tokens could not be taken", metadata: ["error": "\(error)"])
        }
        if granted == 0 {
            try? await cancelWhenGracefulShutdown { [clock] in try await clock.sleep(for: Self.pause) }
            wanted.signal()
            return
        }
        balances.withLock { balances in
            var balance = balances[isBulk] ?? Balance()
            balance.left += granted
            balance.until = clock.now + Self.grantTime
            balance.isWanted = false
            balances[isBulk] = balance
        }
        onGrant.withLock { $0 }?()
    }
}
