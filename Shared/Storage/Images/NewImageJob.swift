public import FoundationEssentials

/// An image job to insert; it starts as `pending`.
public struct NewImageJob: Sendable {
    /// The time until which it has to be done, waiting included: 5 minutes.
    public static let defaultProcessingTime: Duration = .seconds(5 * 60)
    /// The life of job and result: 24 hours from the upload, whatever happens meanwhile.
    public static let defaultLifetime: Duration = .seconds(24 * 60 * 60)

    /// The public id.
    public var id: UUID
    /// Whose it is; has to be a user.
    public var userID: UUID
    /// The template; has to exist.
    public var templateID: String
    /// The width that was asked for, in pixels.
    public var width: Int?
    /// The height that was asked for, in pixels.
    public var height: Int?
    /// The quality that was asked for, as the wire spells it.
    public var quality: String?
    /// The stored upload.
    public var inputKey: String
    /// The request that makes it.
    public var requestID: String?
    /// The trace it belongs to.
    public var traceparent: String?
    /// The time until which it has to be done, from now.
    public var processingTime: Duration
    /// The life of job and result, from now.
    public var lifetime: Duration

    /// Describes a job whose picture has just been uploaded.
    public init(
        id: UUID = UUID(), userID: UUID, templateID: String, width: Int? = nil, height: Int? = nil, quality: String? = nil,
        inputKey: String, requestID: String? = nil, traceparent: String? = nil,
        processingTime: Duration = Self.defaultProcessingTime, lifetime: Duration = Self.defaultLifetime
    ) {
        self.id = id
        self.userID = userID
        self.templateID = templateID
        self.width = width
        self.height = height
        self.quality = quality
        self.inputKey = inputKey
        self.requestID = requestID
        self.traceparent = traceparent
        self.processingTime = processingTime
        self.lifetime = lifetime
    }
}
