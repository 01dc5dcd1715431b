internal import BlobStore
internal import EventBus
internal import FoundationEssentials
internal import HTTPTypes
internal import HeliographCrypto
internal import Hummingbird
internal import ImageProbe
internal import JSON
internal import Logging
internal import Metrics
internal import Multipart
internal import NIOCore
internal import PostgresClient
internal import Storage
internal import WireFormat

/// Answers `POST /v1/topics/event:{id}/photos`.
struct PhotoController: Sendable {
    /// The route in the request's ``IdempotencyScope``.
    private static let route = "POST /v1/topics/photos"
    /// The field of the picture.
    static let field = "photo"

    let blobs: any BlobStore
    let postgres: PostgresClient
    let authenticator: any Authenticator
    let slots: UploadSlots
    /// Limits the photos of one account.
    let limiter: RateLimiter<UUID>
    /// Limits the photos and bytes that an account adds in a day.
    let quota: TopicPhotoQuota
    let limits: UploadLimits
    /// The time for which photos are kept.
    let lifetime: Duration

    func add(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let identity = try await authenticator.identify(request)
        let name = try context.topicName()
        let key = try IdempotencyKey.read(request.headers)
        let boundary = try request.multipartBoundary()
        guard name.kind == .event else { throw APIError(.invalidRequest, "Photos are added to events", field: "topic") }
        if let length = request.contentLength, length > limits.imageBodyBytes {
            throw APIError(.payloadTooLarge, "The body is larger than \(limits.imageBodyBytes / 1_048_576) MB")
        }
        // Membership is checked before the upload, to refuse non-members without reading their bytes, and again when the photo is written.
        guard try await TopicRepository(postgres).find(name, seenBy: identity.userID) != nil else { throw APIError.topicNotFound }
        if let wait = limiter.take(identity.userID) { throw APIError.rateLimited("Too many photos of this account", wait: wait) }
        let scope = key.map { IdempotencyScope(userID: identity.userID, route: Self.route, key: $0) }
        let upload = PhotoUpload(request: request, context: context, boundary: boundary, topic: name, uploaderID: identity.userID)
        let (answer, _, isReplay) = try await slots.withSlot(for: context.client) {
            try await RepeatableRequest(scope: scope, postgres: postgres, logger: context.logger).answer { lease in
                (try await take(upload, lease), ())
            } again: {
                (try await receive(upload, storingAs: nil, lease: nil).fingerprint, ())
            }
        }
        return Answer.kept(answer, isReplay: isReplay)
    }

    /// An upload of a photo that is being read.
    private struct PhotoUpload {
        let request: Request
        let context: APIRequestContext
        let boundary: MultipartBoundary
        let topic: TopicName
        let uploaderID: UUID
    }

    /// Stores a photo. A failed upload leaves nothing behind, unless its outcome is unknown.
    private func take(_ upload: PhotoUpload, _ lease: RequestLease?) async throws -> IdempotencyAnswer {
        let id = UUID()
        let prefix = try BlobKey("topics/\(id.wireString)")
        do {
            let key = try BlobKey("\(prefix.name)/photo")
            let picture = try await receive(upload, storingAs: key, lease: lease)
            let answer = IdempotencyAnswer(
                fingerprint: picture.fingerprint, resourceID: id, status: 202,
                body: TopicAnswer.accepted(photoID: id, requestID: upload.context.requestID).text)
            let photo = NewTopicPhoto(
                id: id, topic: upload.topic, uploaderID: upload.uploaderID, photoKey: key.name, byteCount: picture.byteCount,
                lifetime: lifetime)
            try await write(photo, answer, upload, lease)
            Counter(label: "topic_photos_added_total").increment()
            return answer
        } catch let error as OutcomeUnknown {
            throw error
        } catch {
            do { try await blobs.deleteAll(under: prefix) } catch {
                // The sweeper deletes it later, because no row refers to it.
                upload.context.logger.error("a photo that failed is left", metadata: ["error": "\(error)"])
            }
            throw error
        }
    }

    /// Writes the photo, the event that starts a worker, and the answer for repetitions in one transaction.
    private func write(
        _ photo: NewTopicPhoto, _ answer: IdempotencyAnswer, _ upload: PhotoUpload, _ lease: RequestLease?
    ) async throws {
        try await postgres.write(confirming: { try await TopicPhotoRepository(postgres).find(id: photo.id) != nil }) { transaction in
            if let lease, try await !IdempotencyRepository(transaction).complete(lease.lease, with: answer) {
                throw APIError.requestInProgress
            }
            let photos = TopicPhotoRepository(transaction)
            if let wait = try await photos.lockQuota(quota, uploaderID: photo.uploaderID, byteCount: photo.byteCount) {
                throw APIError.rateLimited("Too many photos of this account in a day", wait: wait)
            }
            guard try await photos.insert(photo) != nil else {
                let isMember = try await TopicRepository(transaction).find(photo.topic, seenBy: photo.uploaderID) != nil
                guard isMember else { throw APIError.topicNotFound }
                throw APIError(.limitReached, "An event has up to \(TopicLimits.maxPhotos) photos at a time")
            }
            try await OutboxRepository(transaction).publish(
                PhotoUploaded(photoID: photo.id, topic: photo.topic.text), requestID: upload.context.requestID,
                traceparent: upload.context.traceparent)
        }
    }

    /// Reads the form and stores its one picture as it arrives.
    ///
    /// - Returns: The fingerprint of the request, which is SHA-256 of topic and picture, and the size of the picture.
    private func receive(_ upload: PhotoUpload, storingAs key: BlobKey?, lease: RequestLease?) async throws
        -> (fingerprint: [UInt8], byteCount: Int)
    {
        upload.context.askForBody()
        var body = MultipartBody(upload.request.body, boundary: upload.boundary, maxBytes: limits.imageBodyBytes)
        var picture: PictureCheck.Passed?
        while let piece = try await body.next() {
            guard case .part(let headers) = piece else { throw APIError.internal }
            guard headers.name == Self.field else {
                try await body.skipPart()
                continue
            }
            guard picture == nil else { throw APIError(.invalidRequest, "One photo is added at a time", field: Self.field) }
            picture = try await PhotoReceiver(blobs: blobs, limits: limits)
                .receive(&body, as: key, field: Self.field) { try await lease?.renewIfDue() }
        }
        guard let picture else { throw APIError(.missingField, "The photo is missing", field: Self.field) }
        let fingerprint = SHA256.hash(Array("photo\n\(upload.topic.text)\n".utf8) + picture.sha256)
        return (fingerprint, picture.info.byteCount)
    }
}
