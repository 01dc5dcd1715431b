internal import Accounts
internal import BlobStore
internal import EventBus
internal import FoundationEssentials
internal import HTTPTypes
internal import HeliographCrypto
internal import Hummingbird
internal import JSON
internal import Logging
internal import Metrics
internal import PostgresClient
internal import Topics
internal import WireFormat

/// The form of `POST /v1/topics/event:{id}/photos`.
struct PhotoForm: FormBody {
    /// The field of the picture.
    static let field = "photo"
    static let schema = JSONSchema.object([field: .file])
    static let maxBytes = UploadLimits().imageBodyBytes

    let stream: FormStream
}

/// Answers `POST /v1/topics/event:{id}/photos`.
struct PhotoController: Sendable {
    /// The route in the request's ``IdempotencyScope``.
    private static let route = "POST /v1/topics/photos"
    private static let formFields = MultipartBody.Fields(pictures: [PhotoForm.field])

    let uploads: UploadPipeline
    let postgres: PostgresClient
    /// Limits the photos and bytes that an account adds in a day.
    let quota: TopicPhotoQuota
    let limits: UploadLimits
    /// The time for which photos are kept.
    let lifetime: Duration

    func add(_ call: APICall<Identity, (TopicName, String?), PhotoForm>) async throws -> Response {
        let (identity, context) = (call.sender, call.context)
        let (name, key) = call.target
        // Membership is checked before the upload, to refuse non-members without reading their bytes, and again when the photo is written.
        guard try await TopicRepository(postgres).find(name, seenBy: identity.userID) != nil else { throw APIError.topicNotFound }
        let scope = key.map { IdempotencyScope(userID: identity.userID, route: Self.route, key: $0) }
        let photoID = UUID()
        let photoKey = try BlobFolder.topicPhotos.key("photo", of: photoID)
        return try await uploads.run(
            storingUnder: BlobFolder.topicPhotos.prefix(of: photoID), scope: scope, limits: limits.picture, context
        ) { attempt, receiver in
            let form = call.body.stream
            var body = MultipartBody(
                form.bytes, boundary: form.boundary, fields: Self.formFields, maxBytes: limits.imageBodyBytes, limits: limits)
            let picture = try await receive(&body, storingAs: attempt.isRepetition ? nil : photoKey, with: receiver)
            let fingerprint = SHA256.hash(Array("photo\n\(name.text)\n".utf8) + picture.sha256)
            let answer = try await attempt.answer(to: fingerprint) { lease in
                let photo = NewTopicPhoto(
                    id: photoID, topic: name, uploaderID: identity.userID, photoKey: photoKey.name, byteCount: picture.byteCount,
                    lifetime: lifetime)
                return try await start(photo, fingerprint, lease, context)
            }
            return Answer.kept(answer, isReplay: attempt.isRepetition)
        }
    }

    /// Reads the one picture of a form.
    private func receive(
        _ body: inout MultipartBody, storingAs key: BlobKey?, with receiver: PictureReceiver
    ) async throws -> PictureCheck.Passed {
        var picture: PictureCheck.Passed?
        while let piece = try await body.next() {
            guard case .pictureBegan(let field) = piece else { throw APIError.internal }
            guard picture == nil else { throw APIError(.invalidRequest, "One photo is added at a time", field: field) }
            picture = try await receiver.receive(&body, field: field, as: key)
        }
        guard let picture else { throw APIError(.missingField, "The photo is missing", field: PhotoForm.field) }
        return picture
    }

    /// Writes the photo, the event that starts a worker, and the answer for repetitions in one transaction.
    private func start(
        _ photo: NewTopicPhoto, _ fingerprint: [UInt8], _ lease: IdempotencyLease?, _ context: APIRequestContext
    ) async throws -> IdempotencyAnswer {
        let answer = IdempotencyAnswer(
            fingerprint: fingerprint, resourceID: photo.id, status: 202,
            body: Answer.data(AcceptedPhoto(id: photo.id).json, context.requestID).text)
        try await postgres.write(confirming: { try await TopicPhotoRepository(postgres).find(id: photo.id) != nil }) { transaction in
            if let lease, try await !IdempotencyRepository(transaction).complete(lease, with: answer) {
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
                PhotoUploaded(photoID: photo.id, topic: photo.topic.text), requestID: context.requestID,
                traceparent: context.traceparent)
        }
        Counter(label: "topic_photos_added_total").increment()
        return answer
    }
}
