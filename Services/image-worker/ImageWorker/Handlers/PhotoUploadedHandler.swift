internal import BlobStore
internal import EventBus
internal import FoundationEssentials
internal import ImageGenerators
internal import ImageProbe
internal import Imaging
internal import Logging
internal import Metrics
internal import PostgresClient
internal import Topics
internal import WireFormat

/// Makes the thumbnail of a photo that was added to a topic, and adds the photo to the topic's next push.
///
/// The photo's new state, the push's window and the inbox mark are one transaction: each photo is announced once.
struct PhotoUploadedHandler: EventHandler {
    let postgres: PostgresClient
    let store: any BlobStore
    let pipeline: ImagePipeline
    /// The threads and memory for image processing.
    let threads: PictureThreads

    func handle(_ event: Envelope<PhotoUploaded>, _ context: HandlerContext) async throws {
        guard try await !context.isHandled(),
            let photo = try await TopicPhotoRepository(postgres).find(id: event.body.photoID), photo.state == .pending,
            photo.topicID != nil
        else { return }
        guard let thumbnail = try await makeThumbnail(of: photo, context.logger) else { return try await fail(photo, context) }
        // A random name: two workers with the same photo do not overwrite each other's thumbnail.
        let key = try BlobFolder.topicPhotos.key("thumbnail-\(UUID().wireString).\(thumbnail.format.fileExtension)", of: photo.id)
        try await store.write(thumbnail.bytes, to: key, as: .media(contentType: thumbnail.format.mimeType))
        let isReady = try await context.commit { transaction in
            guard try await TopicPhotoRepository(transaction).markReady(id: photo.id, thumbnailKey: key.name) else { return false }
            try await TopicPhotoWindowRepository(transaction).add(
                photo, thumbnailKey: key.name, requestID: event.requestID, traceparent: event.traceparent)
            return true
        }
        // Another worker was faster, or the topic is gone.
        if isReady != true { try await store.delete([key]) }
        count(isReady == true ? "ready" : "superseded")
    }

    /// Returns the thumbnail; nil when the photo is permanently unusable.
    private func makeThumbnail(of photo: TopicPhoto, _ logger: Logger) async throws -> EncodedPicture? {
        guard let bytes = try await store.readIfPresent(photo.photoKey, limit: PictureLimits.maxBytes) else {
            logger.error("photo missing or not decryptable", metadata: ["photo": "\(photo.id.wireString)"])
            return nil
        }
        do {
            return try await threads.run(taking: { PictureMemory.thumbnail(of: bytes) }) { [pipeline] in
                try pipeline.thumbnail(of: bytes)
            }
        } catch let error as ImagingError where error.code != .unavailable {
            logger.notice(
                "photo cannot be decoded for a thumbnail", metadata: ["photo": "\(photo.id.wireString)", "error": "\(error)"])
            return nil
        }
    }

    /// Marks a photo as failed and deletes its files, which are never shown.
    private func fail(_ photo: TopicPhoto, _ context: HandlerContext) async throws {
        guard try await context.commit({ try await TopicPhotoRepository($0).markFailed(id: photo.id) }) == true else { return }
        count("failed")
        try await store.deleteAll(under: BlobFolder.topicPhotos.prefix(of: photo.id))
    }

    private func count(_ outcome: String) {
        Counter(label: "topic_photos_total", dimensions: [("outcome", outcome)]).increment()
    }
}
