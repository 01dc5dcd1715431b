internal import BlobStore
internal import FoundationEssentials
internal import Logging
internal import PostgresClient
internal import ServiceDefaults
internal import ServiceLifecycle
internal import Storage
internal import WireFormat

/// Deletes expired jobs (24 hours) with their pictures, and what deletions and dead workers left behind.
///
/// Any number of instances may sweep: deletion is idempotent.
struct ImageRetentionSweeper: Service {
    /// Time in which the worker that ended a job deletes its upload, before the sweeper does.
    private static let inputGracePeriod: Duration = .seconds(60)
    /// Age at which an object belongs to no job: a job lives for 24 hours.
    private static let blobLifetime: Duration = .seconds(25 * 60 * 60)

    let postgres: PostgresClient
    let store: any BlobStore
    let cleanup: JobCleanup
    var interval: Duration = .seconds(30)
    /// The pause between two scans of all objects.
    var strayInterval: Duration = .seconds(60 * 60)
    let logger: Logger
    private let backoff = DeletionBackoff()

    func run() async throws {
        async let strays: Void = periodically("sweep of stray pictures", every: strayInterval, logger: logger) {
            await sweepStrays()
        }
        await periodically("retention of image jobs", every: interval, logger: logger) { await sweep() }
        await strays
    }

    /// Deletes expired jobs and leftover uploads; a failed deletion is retried later and does not delay the others.
    func sweep() async {
        let jobs = ImageJobRepository(postgres)
        let steps = RetentionSteps(logger: logger, backoff: backoff)
        await steps.deleteEach("image_jobs", id: { $0 }) {
            try await jobs.removable(limit: $0, except: $1)
        } delete: {
            try await cleanup.deleteIfGone($0)
        }
        await steps.deleteEach("image_uploads", id: \.id) {
            try await jobs.leftoverInputs(gracePeriod: Self.inputGracePeriod, limit: $0, except: $1)
        } delete: {
            try await cleanup.deleteInputs(of: $0, hasPicture: $0.status == .completed)
        }
    }

    /// Deletes objects that belong to no job.
    func sweepStrays() async {
        let count = await RetentionSteps(logger: logger).run("stray_pictures") {
            try await store.deleteStale(under: BlobFolder.imageJobs.prefix, olderThan: Self.blobLifetime)
        }
        if let count, count > 0 { logger.notice("orphaned pictures deleted", metadata: ["groups": "\(count)"]) }
    }
}
