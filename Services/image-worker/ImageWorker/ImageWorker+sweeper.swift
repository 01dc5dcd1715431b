internal import AsyncPrimitives
internal import BlobStore
internal import Logging
internal import Pictures
internal import PostgresClient
internal import ServiceDefaults
internal import Topics
internal import WireFormat

extension ImageWorker {
    /// The time that the worker of an ended job has to delete the upload, before the sweeper does it.
    private static let inputGracePeriod: Duration = .seconds(60)
    /// Age at which an object belongs to no job: a job lives for 24 hours.
    private static let pictureLifetime: Duration = .seconds(25 * 60 * 60)
    /// Time for which objects without a photo are kept beyond the lifetime of a photo.
    private static let strayPhotoGrace: Duration = .seconds(24 * 60 * 60)

    /// The sweeper of overdue jobs, of expired jobs with their pictures, of photos that expired or whose topic is gone, and of what
    /// interrupted uploads, deletions and dead workers left in the store. Objects are deleted before their rows.
    ///
    /// - Parameters:
    ///   - paidCalls: The limits of a paid generator, whose calls are exported as metrics; nil for an unpaid generator.
    ///   - photoLifetime: See `TOPIC_PHOTO_LIFETIME_DAYS`.
    static func sweeper(
        postgres: PostgresClient, store: any BlobStore, cleanup: JobCleanup, turns: JobTurns, paidCalls: ImageCallLimits? = nil,
        photoLifetime: Duration, logger: Logger,
        clock: any MonotonicClock = ContinuousClock()
    ) -> Sweeper {
        let overdue = OverdueJobs(postgres: postgres)
        let (jobs, photos) = (ImageJobRepository(postgres), TopicPhotoRepository(postgres))
        return Sweeper(
            logger: logger, clock: clock,
            steps: [
                .batches("overdue_jobs", every: .seconds(2), logLevel: .notice) { try await overdue.fail(limit: $0) },
                .batches("waiting_jobs", every: .seconds(2)) { try await turns.fill(limit: $0) },
                .batches("image_calls", every: .seconds(30)) { limit in
                    let calls = ImageCallRepository(postgres)
                    if let paidCalls { ImageWorkerMetrics.record(callsToday: try await calls.totalToday(), limit: paidCalls.total) }
                    return try await calls.deleteOld(limit: limit)
                },
                .batches("image_costs", every: .seconds(30)) { try await ImageCostRepository(postgres).deleteOld(limit: $0) },
                .each("image_jobs", every: .seconds(30), id: { $0 }) {
                    try await jobs.removable(limit: $0, except: $1)
                } delete: {
                    try await cleanup.deleteIfGone($0)
                },
                .each("image_uploads", every: .seconds(30), id: \.id) {
                    try await jobs.leftoverInputs(gracePeriod: inputGracePeriod, limit: $0, except: $1)
                } delete: {
                    try await cleanup.deleteInputs(of: $0, hasPicture: $0.status == .completed)
                },
                .each("topic_photos", every: .seconds(60), id: { $0 }) {
                    try await photos.removable(limit: $0, except: $1)
                } delete: {
                    try await store.deleteAll(under: BlobFolder.topicPhotos.prefix(of: $0))
                    try await photos.remove([$0])
                },
                Sweeper.Step("stray_pictures", every: .seconds(60 * 60), logLevel: .notice) {
                    try await store.deleteStale(under: BlobFolder.imageJobs.prefix, olderThan: pictureLifetime)
                },
                Sweeper.Step("stray_topic_photos", every: .seconds(60 * 60), logLevel: .notice) {
                    try await store.deleteStale(under: BlobFolder.topicPhotos.prefix, olderThan: photoLifetime + strayPhotoGrace)
                },
            ])
    }
}
