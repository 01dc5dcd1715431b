public import FoundationEssentials
internal import PostgresClient
public import WireFormat

/// An order of one picture: a row of `image_jobs`.
public struct ImageJob: Sendable, Equatable {
    /// The picture that was made.
    public struct Result: Sendable, Equatable {
        /// The key in the blob store.
        public var key: String
        /// `jpeg`, `png` or `webp`.
        public var format: String
        /// Its size in bytes.
        public var byteCount: Int
        /// Its width in pixels.
        public var width: Int
        /// Its height in pixels.
        public var height: Int
        /// The width of the upload in pixels, upright.
        public var originalWidth: Int
        /// The height of the upload in pixels, upright.
        public var originalHeight: Int
        /// The key of its thumbnail, a JPEG.
        public var thumbnailKey: String?
        /// The generator that made it: `local`, or the name of a model.
        public var modelUsed: String
        /// The time the generator took, in milliseconds; `nil` when the worker crashed before it could record it.
        public var generationTimeMs: Int?

        /// Describes a picture that is in the blob store.
        public init(
            key: String, format: String, byteCount: Int, width: Int, height: Int, originalWidth: Int, originalHeight: Int,
            thumbnailKey: String?, modelUsed: String, generationTimeMs: Int?
        ) {
            self.key = key
            self.format = format
            self.byteCount = byteCount
            self.width = width
            self.height = height
            self.originalWidth = originalWidth
            self.originalHeight = originalHeight
            self.thumbnailKey = thumbnailKey
            self.modelUsed = modelUsed
            self.generationTimeMs = generationTimeMs
        }
    }

    /// The reason why no picture was made, in words that may be shown to users.
    public struct Failure: Sendable, Equatable {
        /// The code for apps.
        public var code: ImageFailureCode
        /// One sentence for the user.
        public var message: String

        /// Describes a failure.
        public init(code: ImageFailureCode, message: String) {
            self.code = code
            self.message = message
        }
    }

    /// The public id.
    public let id: UUID
    /// The user who ordered it.
    public let userID: UUID
    /// The lane in which it waits for a worker.
    public let lane: ImageLane
    /// Whether it waits for the end of others of its account before its `ImageRequested` is published.
    public let awaitsTurn: Bool
    /// The template it was ordered with.
    public let templateID: String
    /// The template's name at the time of the order.
    public let templateName: String
    /// The state.
    public let status: ImageJobStatus
    /// The progress, 0 to 100; never decreases.
    public let percent: Int
    /// The number of generator calls.
    public let attempts: Int
    /// The requested width in pixels.
    public let width: Int?
    /// The requested height in pixels.
    public let height: Int?
    /// The requested quality, as in the wire format.
    public let quality: String?
    /// The stored upload; `nil` once it is deleted.
    public let inputKey: String?
    /// The picture; `nil` unless completed.
    public let result: Result?
    /// The reason of the failure; `nil` unless failed.
    public let failure: Failure?
    /// The request that created it.
    public let requestID: String?
    /// The trace it belongs to.
    public let traceparent: String?
    /// When the upload was accepted.
    public let createdAt: Date
    /// When a worker first began to process it.
    public let startedAt: Date?
    /// When it became terminal.
    public let completedAt: Date?
    /// When it fails if it has not ended.
    public let deadlineAt: Date
    /// When the job and its pictures are deleted.
    public let expiresAt: Date
    /// When its user first fetched the outcome.
    public let seenAt: Date?
    /// When its user cancelled or deleted it.
    public let deletedAt: Date?

    init(row: PostgresRow) throws(PostgresError) {
        id = try row.decode("id")
        userID = try row.decode("user_id")
        lane = try row.decodeCase("lane")
        awaitsTurn = try row.decode("awaits_turn")
        templateID = try row.decode("template_id")
        templateName = try row.decode("template_name")
        status = try row.decodeCase("status")
        percent = try row.decode("percent")
        attempts = try row.decode("attempts")
        width = try row.decode("width")
        height = try row.decode("height")
        quality = try row.decode("quality")
        inputKey = try row.decode("input_key")
        result = try row.decode("result_key", as: String?.self) == nil ? nil : Result(row: row)
        failure = try row.decode("error_code", as: String?.self) == nil ? nil : Failure(row: row)
        requestID = try row.decode("request_id")
        traceparent = try row.decode("traceparent")
        createdAt = try row.decode("created_at")
        startedAt = try row.decode("started_at")
        completedAt = try row.decode("completed_at")
        deadlineAt = try row.decode("deadline_at")
        expiresAt = try row.decode("expires_at")
        seenAt = try row.decode("seen_at")
        deletedAt = try row.decode("deleted_at")
    }
}

extension ImageJob.Result {
    init(row: PostgresRow) throws(PostgresError) {
        key = try row.decode("result_key")
        format = try row.decode("result_format")
        byteCount = try row.decode("result_bytes")
        width = try row.decode("result_width")
        height = try row.decode("result_height")
        originalWidth = try row.decode("original_width")
        originalHeight = try row.decode("original_height")
        thumbnailKey = try row.decode("thumbnail_key")
        modelUsed = try row.decode("model_used")
        generationTimeMs = try row.decode("generation_ms")
    }
}

extension ImageJob.Failure {
    init(row: PostgresRow) throws(PostgresError) {
        code = ImageFailureCode(rawValue: try row.decode("error_code"))
        message = try row.decode("error_message")
    }
}
