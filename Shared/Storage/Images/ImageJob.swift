public import FoundationEssentials
internal import PostgresClient
public import WireFormat

/// One picture to be made, or made: a row of `image_jobs`.
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
        /// Who made it: `local`, or the name of a model.
        public var modelUsed: String
        /// How long the generator took, in milliseconds; `nil` when the worker died before it could note that.
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

    /// Why no picture was made, in words that may be shown to anybody.
    public struct Failure: Sendable, Equatable {
        /// What apps decide by.
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
    /// Whose it is.
    public let userID: UUID
    /// The template it was ordered by.
    public let templateID: String
    /// The template's name when it was ordered.
    public let templateName: String
    /// Where it is.
    public let status: ImageJobStatus
    /// How much is done, 0 to 100; never falls.
    public let percent: Int
    /// How often a generator was called for it.
    public let attempts: Int
    /// The width that was asked for, in pixels.
    public let width: Int?
    /// The height that was asked for, in pixels.
    public let height: Int?
    /// The quality that was asked for, as the wire spells it.
    public let quality: String?
    /// The stored upload; `nil` once it is deleted.
    public let inputKey: String?
    /// The picture; `nil` unless completed.
    public let result: Result?
    /// Why there is none; `nil` unless failed.
    public let failure: Failure?
    /// The request that made it.
    public let requestID: String?
    /// The trace it belongs to.
    public let traceparent: String?
    /// When the upload was accepted.
    public let createdAt: Date
    /// When a worker first took it.
    public let startedAt: Date?
    /// When it became terminal.
    public let completedAt: Date?
    /// When it fails if it is not done by then.
    public let deadlineAt: Date
    /// When job and pictures are deleted.
    public let expiresAt: Date
    /// When its user first fetched the outcome.
    public let seenAt: Date?
    /// When its user cancelled or deleted it.
    public let deletedAt: Date?

    init(row: PostgresRow) throws(PostgresError) {
        id = try row.decode("id")
        userID = try row.decode("user_id")
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
