internal import Logging
internal import PostgresClient
internal import Storage

/// Work on a request that may come again: the first try does it, and every other gets the answer of the first.
struct RepeatableRequest {
    /// What the request's key names; nil for a request without one, which is worked on whenever it comes.
    let scope: IdempotencyScope?
    /// How long repetitions get the answer of the first.
    var lifetime = IdempotencyRepository.defaultLifetime
    let postgres: PostgresClient
    let logger: Logger

    /// Answers the request.
    ///
    /// - Parameters:
    ///   - first: Does the work, and writes its answer in the transaction in which it takes effect, by the lease it is given.
    ///   - again: Reads a repetition and returns what it asks for, as ``IdempotencyAnswer/fingerprint``.
    /// - Returns: The answer, what else this try of the request brought, and whether the answer was given before.
    /// - Throws: `request_in_progress` when another try is worked on, `idempotency_key_reused` when the key was another request's,
    ///   and what the two throw.
    func answer<Extra>(
        first: (RequestLease?) async throws -> (answer: IdempotencyAnswer, extra: Extra),
        again: () async throws -> (fingerprint: [UInt8], extra: Extra)
    ) async throws -> (answer: IdempotencyAnswer, extra: Extra, isReplay: Bool) {
        guard let scope else {
            let (answer, extra) = try await first(nil)
            return (answer, extra, false)
        }
        switch try await IdempotencyRepository(postgres).begin(scope, lease: RequestLease.length, lifetime: lifetime) {
        case .inProgress:
            throw APIError.requestInProgress
        case .answered(let answer):
            let (fingerprint, extra) = try await again()
            guard fingerprint == answer.fingerprint else { throw APIError.idempotencyKeyReused }
            return (answer, extra, true)
        case .began(let begun):
            let lease = RequestLease(begun, postgres: postgres)
            do {
                let (answer, extra) = try await first(lease)
                return (answer, extra, false)
            } catch let error as OutcomeUnknown {
                // If it was written after all, repetitions get its answer; and if not, the lease runs out.
                throw error.underlying
            } catch {
                await lease.release(logger)
                throw error
            }
        }
    }
}
