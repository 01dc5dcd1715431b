internal import BlobStore
internal import FoundationEssentials
internal import Logging
internal import PostgresClient
internal import ServiceDefaults
internal import ServiceLifecycle
internal import Storage

/// Deletes photos of topics, files first and rows last, when their time is over or their topic is gone.
///
/// Any number of instances may sweep: deleting twice is no harm.
struct PhotoRetentionSweeper: Service {
    /// How long files may lie about that belong to no photo, beyond the life of one.
    private static let strayGrace: Duration = .seconds(24 * 60 * 60)

    let postgres: PostgresClient
    let store: any BlobStore
    /// How long a photo lives (`TOPIC_PHOTO_LIFETIME_DAYS`).
    let lifetime: Duration
    var interval: Duration = .seconds(60)
    /// The pause between two looks through all files.
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

    /// Deletes the photos that are due; what cannot be deleted now comes again later, and nothing else waits for it.
    func sweep() async {
        let photos = TopicPhotoRepository(postgres)
        await RetentionSteps(logger: logger, backoff: backoff).deleteEach("topic_photos", id: { $0 }) {
            try await photos.removable(limit: $0, except: $1)
        } delete: { id in
            try await PhotoBlobs(store: store, photoID: id).deleteAll()
            try await photos.remove([id])
        }
    }

    /// Deletes files that an upload left which broke off before its row was written.
    func sweepStrays() async {
        let count = await RetentionSteps(logger: logger).run("stray_topic_photos") {
            try await store.deleteStale(under: try PhotoBlobs.root(), olderThan: lifetime + Self.strayGrace)
        }
        if let count, count > 0 { logger.notice("photos that belonged to no topic deleted", metadata: ["groups": "\(count)"]) }
    }
}
