internal import BlobStore
internal import FoundationEssentials
internal import Logging
internal import PostgresClient
internal import ServiceDefaults
internal import ServiceLifecycle
internal import Storage
internal import WireFormat

/// Deletes jobs with their pictures when their 24 hours are over, and what deletions and dead workers left behind.
///
/// Any number of instances may sweep: deleting twice is no harm.
struct ImageRetentionSweeper: Service {
    /// How long a worker has to delete the upload of a job it ended.
    private static let inputGracePeriod: Duration = .seconds(60)
    /// Objects older than this belong to no job: a job lives for 24 hours.
    private static let blobLifetime: Duration = .seconds(25 * 60 * 60)

    let postgres: PostgresClient
    let store: any BlobStore
    let remains: JobRemains
    var interval: Duration = .seconds(30)
    /// The pause between two looks through all objects.
    var strayInterval: Duration = .seconds(60 * 60)
    let logger: Logger

    func run() async throws {
        async let strays: Void = periodically("sweep of stray pictures", every: strayInterval, logger: logger) {
            try await sweepStrays()
        }
        await periodically("retention of image jobs", every: interval, logger: logger) { try await sweep() }
        await strays
    }

    /// Deletes what is due; what cannot be deleted now waits for the next sweep, and nothing else waits with it.
    func sweep() async throws {
        let jobs = ImageJobRepository(postgres)
        try await deleteInBatches("image jobs removed", logger: logger) {
            try await jobs.removable(limit: $0)
        } delete: { id in
            await remains.attempt(id, logger) { try await remains.deleteIfGone(id) }
        }
        try await deleteInBatches("uploads of ended image jobs deleted", logger: logger) {
            try await jobs.leftoverInputs(gracePeriod: Self.inputGracePeriod, limit: $0)
        } delete: { job in
            await remains.attempt(job.id, logger) {
                try await remains.deleteInputs(of: job, hasPicture: job.status == .completed)
            }
        }
    }

    /// Deletes objects that belong to no job.
    func sweepStrays() async throws {
        let count = try await store.deleteStale(under: try JobBlobs.root(), olderThan: Self.blobLifetime)
        if count > 0 { logger.notice("pictures that belonged to no job deleted", metadata: ["groups": "\(count)"]) }
    }
}
