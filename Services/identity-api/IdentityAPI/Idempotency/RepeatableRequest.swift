internal import Accounts
internal import Logging
internal import PostgresClient

/// Processes a request that may be repeated: the first attempt does the work, and every other one gets its answer.
struct RepeatableRequest {
    /// The scope of the request's key; nil for a request without a key, which is processed every time.
    let scope: IdempotencyScope?
    /// The time for which repetitions get the first answer.
    var lifetime = IdempotencyRepository.defaultLifetime
    let postgres: PostgresClient
    let logger: Logger

    /// One attempt at the request.
    struct Attempt {
        /// The lease under which a first attempt works; nil without a key, and for a repetition.
        let lease: RequestLease?
        /// The answer that a repetition gets.
        fileprivate let earlier: IdempotencyAnswer?

        /// Whether the request was answered before.
        var isRepetition: Bool { earlier != nil }

        /// Returns the answer of the attempt.
        ///
        /// - Parameters:
        ///   - fingerprint: See ``IdempotencyAnswer/fingerprint``.
        ///   - start: Does the work of a first attempt, and stores the answer in the transaction in which the work takes effect.
        /// - Throws: `idempotency_key_reused` when the key belongs to another request.
        func answer(
            to fingerprint: [UInt8], start: (IdempotencyLease?) async throws -> IdempotencyAnswer
        ) async throws -> IdempotencyAnswer {
            guard let earlier else { return try await start(lease?.lease) }
            guard fingerprint == earlier.fingerprint else { throw APIError.idempotencyKeyReused }
            return earlier
        }
    }

    /// Runs the body for an attempt.
    ///
    /// - Throws: `request_in_progress` while another attempt is processed, and the errors of the body.
    func run<Result>(_ body: (Attempt) async throws -> Result) async throws -> Result {
        guard let scope else { return try await body(Attempt(lease: nil, earlier: nil)) }
        switch try await IdempotencyRepository(postgres).begin(scope, lease: RequestLease.length, lifetime: lifetime) {
        case .inProgress:
            throw APIError.requestInProgress
        case .answered(let answer):
            return try await body(Attempt(lease: nil, earlier: answer))
        case .began(let begun):
            let lease = RequestLease(begun, postgres: postgres)
            do {
                return try await body(Attempt(lease: lease, earlier: nil))
            } catch let error as OutcomeUnknown {
                // If the answer was committed after all, repetitions get it; if not, the lease runs out.
                throw error
            } catch {
                await lease.release(logger)
                throw error
            }
        }
    }
}
