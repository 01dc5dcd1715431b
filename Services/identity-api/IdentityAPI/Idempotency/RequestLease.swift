internal import Accounts
internal import Logging
internal import PostgresClient
internal import Synchronization

/// The lease of a request with an idempotency key, renewed while the request is processed.
///
/// It expires within a minute after its process died; then a repetition can start the work again.
final class RequestLease: Sendable {
    /// The length of the lease.
    static let length = Duration.seconds(60)
    /// The interval of renewals.
    private static let renewal = Duration.seconds(15)

    let lease: IdempotencyLease
    private let postgres: PostgresClient
    private let renewedAt = Mutex(ContinuousClock.now)

    init(_ lease: IdempotencyLease, postgres: PostgresClient) {
        self.lease = lease
        self.postgres = postgres
    }

    /// Renews the lease if the last renewal is 15 s old.
    ///
    /// - Throws: `request_in_progress` when the lease had run out and another attempt has taken it.
    func renewIfDue() async throws {
        let isDue = renewedAt.withLock { renewedAt in
            guard ContinuousClock.now - renewedAt >= Self.renewal else { return false }
            renewedAt = .now
            return true
        }
        guard isDue else { return }
        guard try await IdempotencyRepository(postgres).renew(lease, lease: Self.length) else { throw APIError.requestInProgress }
    }

    /// Releases the lease of a failed request, even when the task is cancelled.
    func release(_ logger: Logger) async {
        let (repository, lease) = (IdempotencyRepository(postgres), lease)
        await Task {
            do {
                try await repository.release(lease)
            } catch {
                logger.warning("a request's key is held until its lease runs out", metadata: ["error": "\(error)"])
            }
        }.value
    }
}

extension APIError {
    static let requestInProgress = APIError(.requestInProgress, "The same request is being worked on", retryAfter: 1)

    static let idempotencyKeyReused = APIError(
        .idempotencyKeyReused, "The key of this request was used for another one")
}
