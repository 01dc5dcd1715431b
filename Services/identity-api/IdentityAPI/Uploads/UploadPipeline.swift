internal import Accounts
internal import BlobStore
internal import Hummingbird
internal import ImageProbe
internal import PostgresClient

/// Takes in the body of an upload whose sender has been checked: the same steps in the same order for faces, orders and photos of events.
///
/// 1. A slot, before a byte of the body is read, and before a lease begins: the number of bodies in flight is limited, and a request that
///    is refused here holds nothing.
/// 2. The lease of the request's key: beside an attempt that is under way another one is refused before it sends its body, and a
///    repetition of an answered request stores nothing. A form of faces names its owner in its body, so that its controller takes the
///    lease after step 4.
/// 3. What is stored is deleted when a later step fails, before the lease ends: the next attempt finds nothing of this one.
/// 4. The body, for which a client that sent `Expect: 100-continue` waits. Each piece is checked, hashed and stored in its turn, and
///    extends the lease.
/// 5. The work, in the transaction that stores the answer for repetitions, or the answer of the first attempt; see
///    ``RepeatableRequest/Attempt/answer(to:start:)``.
struct UploadPipeline: Sendable {
    let blobs: any BlobStore
    let postgres: PostgresClient
    let slots: UploadSlots

    /// Runs the steps 1 to 3, and the body for steps 4 and 5.
    ///
    /// - Parameters:
    ///   - prefix: The prefix of the objects that the body stores.
    ///   - scope: The scope of the request's key; nil without one, or when the body decides it.
    ///   - limits: The limits of each picture.
    func run<Result>(
        storingUnder prefix: BlobKey, scope: IdempotencyScope?, limits: ImageLimits, _ context: APIRequestContext,
        _ body: (RepeatableRequest.Attempt, PictureReceiver) async throws -> Result
    ) async throws -> Result {
        let repeatable = RepeatableRequest(scope: scope, postgres: postgres, logger: context.logger)
        return try await slots.withSlot(for: context) { slot in
            try await repeatable.run { attempt in
                try await blobs.deletingOnFailure(under: prefix, context.logger) {
                    context.askForBody()
                    let receiver = PictureReceiver(blobs: blobs, limits: limits, slot: slot) { try await attempt.lease?.renewIfDue() }
                    return try await body(attempt, receiver)
                }
            }
        }
    }
}
