internal import Accounts
internal import AsyncPrimitives
internal import FoundationEssentials
internal import Logging
internal import PostgresClient
internal import Synchronization

/// Keeps the lease of an export, and ends the export with the sign-in that asked for it.
final class ExportWatch: Sendable {
    let id: UUID
    let userID: UUID
    private let postgres: PostgresClient
    private let limits: ExportLimits
    private let clock: any MonotonicClock
    private let signIn: SignInWatch
    private let startedAt: ContinuousClock.Instant
    private let renewedAt: Mutex<ContinuousClock.Instant>

    init(
        id: UUID, userID: UUID, postgres: PostgresClient, limits: ExportLimits, clock: any MonotonicClock,
        signIn: SignInWatch
    ) {
        self.id = id
        self.userID = userID
        self.postgres = postgres
        self.limits = limits
        self.clock = clock
        self.signIn = signIn
        startedAt = clock.now
        renewedAt = Mutex(startedAt)
    }

    /// Renews the lease if that is due.
    ///
    /// - Throws: ``ExportEnded`` when the export may not go on.
    func renewIfDue() async throws {
        let now = clock.now
        guard now - startedAt <= limits.maxDuration else { throw ExportEnded.tookTooLong }
        let isDue = renewedAt.withLock { renewedAt in
            guard now - renewedAt >= limits.renewal else { return false }
            renewedAt = now
            return true
        }
        guard isDue else { return }
        guard try await signIn.holds() else { throw ExportEnded.signedOut }
        guard try await AccountExportRepository(postgres).renew(id: id, lease: limits.lease) else { throw ExportEnded.leaseLost }
    }

    /// Ends the export, even when the task is cancelled, so that the next one can begin at once.
    func end(_ logger: Logger) async {
        let (repository, id) = (AccountExportRepository(postgres), id)
        await Task {
            do {
                try await repository.end(id: id)
            } catch {
                logger.warning("an export counts as under way until its lease runs out", metadata: ["error": "\(error)"])
            }
        }.value
    }
}

/// The reason why an export may not go on.
enum ExportEnded: Error {
    /// The sign-in has ended, or its access token has expired.
    case signedOut
    /// The account is gone, or the process has slept for longer than the lease.
    case leaseLost
    /// The client is too slow.
    case tookTooLong
}
