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
    /// Jobs that are looked up together.
    private static let batchSize = 100
    /// How long a worker has to delete the upload of a job it ended.
    private static let inputGracePeriod: Duration = .seconds(60)
    /// Objects older than this belong to no job: a job lives for 24 hours.
    private static let blobLifetime: Duration = .seconds(25 * 60 * 60)

    let postgres: PostgresClient
    let store: any BlobStore
    let remains: JobRemains
    var interval: Duration = .seconds(30)
    let logger: Logger

    func run() async throws {
        await periodically("retention of image jobs", every: interval, logger: logger) { try await sweep() }
    }

    /// Sweeps once.
    func sweep() async throws {
        let jobs = ImageJobRepository(postgres)
        try await inBatches {
            let ids = try await jobs.removable(limit: Self.batchSize)
            for id in ids { try await remains.deleteIfGone(id) }
            if !ids.isEmpty { logger.info("image jobs removed", metadata: ["count": "\(ids.count)"]) }
            return ids.count
        }
        try await inBatches {
            let ended = try await jobs.leftoverInputs(gracePeriod: Self.inputGracePeriod, limit: Self.batchSize)
            for job in ended { try await remains.deleteInputs(of: job, hasPicture: job.status == .completed) }
            return ended.count
        }
        let stale = try await store.deleteStale(under: try JobBlobs.root(), olderThan: Self.blobLifetime)
        if stale > 0 { logger.notice("pictures that belonged to no job deleted", metadata: ["groups": "\(stale)"]) }
    }

    private func inBatches(_ body: () async throws -> Int) async throws {
        while try await body() == Self.batchSize {}
    }
}
