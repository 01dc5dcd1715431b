internal import Logging
internal import PostgresClient
internal import Storage

/// Processes a request that may be repeated: the first attempt does the work, and every other one gets its answer.
struct RepeatableRequest {
    /// The scope of the request's key; nil for a request without a key, which is processed every time.
    let scope: IdempotencyScope?
    /// The time for which repetitions get the first answer.
    var lifetime = IdempotencyRepository.defaultLifetime
    let postgres: PostgresClient
    let logger: Logger

    /// Answers the request.
    ///
    /// - Parameters:
    ///   - first: Does the work under the given lease, and stores the answer in the transaction in which the work takes effect.
    ///   - again: Reads a repetition and returns its ``IdempotencyAnswer/fingerprint``.
    /// - Returns: The answer, the extra result of the closure that ran, and whether the answer is a repetition of an earlier one.
    /// - Throws: `request_in_progress` while another attempt is processed, `idempotency_key_reused` when the key belongs to another
    ///   request, and the errors of both closures.
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
                // If the answer was committed after all, repetitions get it; if not, the lease runs out.
                throw error.underlying
            } catch {
                await lease.release(logger)
                throw error
            }
        }
    }
}
