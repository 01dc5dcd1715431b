internal import Logging
internal import PostgresClient
internal import Storage
internal import Synchronization

/// The right to work on a request with a key, renewed as long as there is work.
///
/// It runs out a minute after a process died, so that a repetition can begin anew.
final class RequestLease: Sendable {
    /// How long others believe that the work goes on.
    static let length = Duration.seconds(60)
    /// How often it is said that it does.
    private static let renewal = Duration.seconds(15)

    let lease: IdempotencyLease
    private let postgres: PostgresClient
    private let renewedAt = Mutex(ContinuousClock.now)

    init(_ lease: IdempotencyLease, postgres: PostgresClient) {
        self.lease = lease
        self.postgres = postgres
    }

    /// Renews it if that is due.
    ///
    /// - Throws: `request_in_progress` when it had run out and another try of the request is worked on.
    func renewIfDue() async throws {
        let isDue = renewedAt.withLock { renewedAt in
            guard ContinuousClock.now - renewedAt >= Self.renewal else { return false }
            renewedAt = .now
            return true
        }
        guard isDue else { return }
        guard try await IdempotencyRepository(postgres).renew(lease, lease: Self.length) else { throw APIError.requestInProgress }
    }

    /// Lets go of a request that failed, even though its task is cancelled.
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
