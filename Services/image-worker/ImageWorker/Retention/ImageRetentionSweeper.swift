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
    private let backoff = DeletionBackoff()

    func run() async throws {
        async let strays: Void = periodically("sweep of stray pictures", every: strayInterval, logger: logger) {
            await sweepStrays()
        }
        await periodically("retention of image jobs", every: interval, logger: logger) { await sweep() }
        await strays
    }

    /// Deletes what is due; what cannot be deleted now comes again later, and nothing else waits for it.
    func sweep() async {
        let jobs = ImageJobRepository(postgres)
        let steps = RetentionSteps(logger: logger, backoff: backoff)
        await steps.deleteEach("image_jobs", id: { $0 }) {
            try await jobs.removable(limit: $0, except: $1)
        } delete: {
            try await remains.deleteIfGone($0)
        }
        await steps.deleteEach("image_uploads", id: \.id) {
            try await jobs.leftoverInputs(gracePeriod: Self.inputGracePeriod, limit: $0, except: $1)
        } delete: {
            try await remains.deleteInputs(of: $0, hasPicture: $0.status == .completed)
        }
    }

    /// Deletes objects that belong to no job.
    func sweepStrays() async {
        let count = await RetentionSteps(logger: logger).run("stray_pictures") {
            try await store.deleteStale(under: try JobBlobs.root(), olderThan: Self.blobLifetime)
        }
        if let count, count > 0 { logger.notice("pictures that belonged to no job deleted", metadata: ["groups": "\(count)"]) }
    }
}
