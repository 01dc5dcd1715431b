internal import Accounts
internal import BlobStore
internal import Hummingbird
internal import ImageProbe
internal import PostgresClient

/// Takes in the body of an upload whose sender has been checked: of faces, orders and photos of events.
///
/// 1. A slot, before a byte of the body is read, and before a lease begins: the number of bodies in flight is limited, and a request that
///    is refused here holds nothing.
/// 2. The lease of the request's key: beside an attempt that is under way another one is refused before its body is read.
/// 3. What is stored is deleted when a later step fails, so that it takes no space; not after ``OutcomeUnknown``, when a row may name it.
/// 4. The body, for which a client that sent `Expect: 100-continue` waits. Each piece of a picture is checked, hashed and stored in its
///    turn, and renews the lease when that is due.
/// 5. The work, in the transaction that stores the answer for repetitions, or the answer of the first attempt; see
///    ``RepeatableRequest/Attempt/answer(to:start:)``.
///
/// A form of faces names its owner, and so the scope of its key, in its body: its controller takes the lease between the steps 4 and 5, and
/// deletes the photos of a repetition.
struct UploadPipeline: Sendable {
    let blobs: any BlobStore
    let postgres: PostgresClient
    let slots: UploadSlots

    /// Runs the steps 1 to 3, asks the client for the body of the request, and runs `body` for the rest. `body` stores nothing for a
    /// repetition.
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
