internal import BlobStore
internal import FoundationEssentials
internal import Logging
internal import PostgresClient
internal import ServiceDefaults
internal import ServiceLifecycle
internal import Storage

/// Deletes photos of topics, files before rows, when they have expired or their topic is gone.
///
/// Any number of instances may sweep: deletion is idempotent.
struct PhotoRetentionSweeper: Service {
    /// Time for which orphaned files are kept beyond the lifetime of a photo.
    private static let strayGrace: Duration = .seconds(24 * 60 * 60)

    let postgres: PostgresClient
    let store: any BlobStore
    /// The lifetime of a photo (`TOPIC_PHOTO_LIFETIME_DAYS`).
    let lifetime: Duration
    var interval: Duration = .seconds(60)
    /// The pause between two scans of all files.
    var strayInterval: Duration = .seconds(60 * 60)
    let logger: Logger
    private let backoff = DeletionBackoff()

    func run() async throws {
        async let strays: Void = periodically("sweep of stray photos", every: strayInterval, logger: logger) {
            await sweepStrays()
        }
        await periodically("retention of photos", every: interval, logger: logger) { await sweep() }
        await strays
    }

    /// Deletes the photos that are due; a failed deletion is retried later and does not delay the others.
    func sweep() async {
        let photos = TopicPhotoRepository(postgres)
        await RetentionSteps(logger: logger, backoff: backoff).deleteEach("topic_photos", id: { $0 }) {
            try await photos.removable(limit: $0, except: $1)
        } delete: { id in
            try await store.deleteAll(under: BlobFolder.topicPhotos.prefix(of: id))
            try await photos.remove([id])
        }
    }

    /// Deletes the files of uploads that were interrupted before their row was written.
    func sweepStrays() async {
        let count = await RetentionSteps(logger: logger).run("stray_topic_photos") {
            try await store.deleteStale(under: BlobFolder.topicPhotos.prefix, olderThan: lifetime + Self.strayGrace)
        }
        if let count, count > 0 { logger.notice("orphaned photos deleted", metadata: ["groups": "\(count)"]) }
    }
}
