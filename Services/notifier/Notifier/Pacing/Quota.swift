internal import Logging
internal import PostgresClient
internal import ServiceLifecycle
internal import Storage
internal import Synchronization
internal import WireFormat

/// This process's part of what FCM lets the project send: it takes some leave from the shared bucket at a time, so that
/// a push costs no query.
///
/// What is not used within a second is forfeited, which costs nothing: the bucket is full again after as long.
final class Quota: Service {
    /// The most leave that is taken at once, as a share of a second's.
    private static let sliceShare = 0.125
    /// How much urgent and normal pushes may be ahead of their leave: none of them waits for a query.
    private static let debtMax = 100
    /// How long a grant is good for.
    private static let grantTime: Duration = .seconds(1)
    /// How long to wait when the bucket is empty or the database does not answer.
    private static let pause: Duration = .milliseconds(50)

    private struct Balance {
        var left = 0
        var until = ContinuousClock.now
        var isWanted = false
    }

    private let postgres: PostgresClient
    private let project: String
    let limits: PushQuotaLimits
    private let logger: Logger
    /// The bulk lane's, and that of the others.
    private let balances = Mutex<[Bool: Balance]>([:])
    private let wanted = Bell()
    private let onGrant = Mutex<(@Sendable () -> Void)?>(nil)

    init(postgres: PostgresClient, project: String, limits: PushQuotaLimits, logger: Logger) {
        self.postgres = postgres
        self.project = project
        self.limits = limits
        self.logger = logger
    }

    /// Has somebody called whenever there is leave again.
    func whenGranted(_ body: @escaping @Sendable () -> Void) { onGrant.withLock { $0 = body } }

    /// Takes leave for some pushes of a lane.
    ///
    /// - Returns: How many of them may go. What is missing is being asked for.
    func take(_ count: Int, _ lane: Lane) -> Int {
        let now = ContinuousClock.now
        let (granted, shallAsk) = balances.withLock { balances in
            var balance = balances[lane == .bulk] ?? Balance()
            if balance.left > 0, balance.until <= now { balance.left = 0 }
            let granted = min(count, max(0, balance.left + (lane == .bulk ? 0 : Self.debtMax)))
            balance.left -= granted
            let shallAsk = balance.left < max(1, slice / 4) && !balance.isWanted
            if shallAsk { balance.isWanted = true }
            balances[lane == .bulk] = balance
            return (granted, shallAsk)
        }
        if shallAsk { wanted.ring() }
        return granted
    }

    private var slice: Int { max(1, Int(limits.perSecond * Self.sliceShare)) }

    /// What is left in the bucket that all senders share; nil before anything was sent.
    func balance() async throws -> PushQuotaBalance? {
        try await PushQuotaRepository(postgres).balance(project: project, limits: limits)
    }

    /// Takes leave from the bucket whenever it is wanted, until a graceful shutdown.
    func run() async throws {
        await withTaskCancellationOrGracefulShutdownHandler {
            while !Task.isCancelled && !Task.isShuttingDownGracefully {
                await wanted.wait()
                for isBulk in [false, true] where balances.withLock({ $0[isBulk]?.isWanted ?? false }) {
                    await ask(isBulk: isBulk)
                }
            }
        } onCancelOrGracefulShutdown: {
            self.wanted.ring()
        }
    }

    private func ask(isBulk: Bool) async {
        var granted = 0
        do {
            granted = try await PushQuotaRepository(postgres).take(slice, project: project, isBulk: isBulk, limits: limits)
        } catch {
            logger.warning("no leave to send could be had", metadata: ["error": "\(error)"])
        }
        if granted == 0 {
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.pause) }
            wanted.ring()
            return
        }
        balances.withLock { balances in
            var balance = balances[isBulk] ?? Balance()
            balance.left += granted
            balance.until = .now + Self.grantTime
            balance.isWanted = false
            balances[isBulk] = balance
        }
        onGrant.withLock { $0 }?()
    }
}
