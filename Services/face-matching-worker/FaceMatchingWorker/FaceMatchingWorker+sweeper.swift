internal import Accounts
internal import AsyncPrimitives
internal import Logging
internal import PostgresClient
internal import ServiceDefaults

extension FaceMatchingWorker {
    /// The sweeper of rows that no search needs any more: old removals, duplicate pairs with an erased face, and reports of stopped
    /// workers.
    static func sweeper(postgres: PostgresClient, logger: Logger, clock: any MonotonicClock = ContinuousClock()) -> Sweeper {
        let interval = Duration.seconds(60)
        return Sweeper(
            logger: logger, clock: clock,
            steps: [
                .batches("face_removals", every: interval) { try await FaceChangeRepository(postgres).deleteOldRemovals(limit: $0) },
                .batches("face_duplicates", every: interval) { try await FaceDuplicateRepository(postgres).deleteWithoutFace(limit: $0) },
                .batches("face_indexes", every: interval) { try await FaceIndexRepository(postgres).deleteSilent(limit: $0) },
            ])
    }
}
