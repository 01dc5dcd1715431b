public import FoundationEssentials
public import WireFormat

/// An image job to insert; it starts as `pending`.
public struct NewImageJob: Sendable {
    /// The default time from upload to deadline, including the time in the queue: 5 minutes.
    public static let defaultProcessingTime: Duration = .seconds(5 * 60)
    /// The default lifetime of job and result: 24 hours from the upload, in any state.
    public static let defaultLifetime: Duration = .seconds(24 * 60 * 60)

    /// The public id.
    public var id: UUID
    /// The user; must exist.
    public var userID: UUID
    /// The lane in which it waits for a worker.
    public var lane: ImageLane
    /// Whether it waits for the end of others of its account: its `ImageRequested` is published with
    /// ``ImageJobRepository/nextTurn(after:)``.
    public var awaitsTurn: Bool
    /// The estimated processor time that it takes.
    public var estimatedCost: Duration
    /// The template; must exist.
    public var templateID: String
    /// The requested width in pixels.
    public var width: Int?
    /// The requested height in pixels.
    public var height: Int?
    /// The requested quality, as in the wire format.
    public var quality: String?
    /// The stored upload.
    public var inputKey: String
    /// The request that creates it.
    public var requestID: String?
    /// The trace it belongs to.
    public var traceparent: String?
    /// The time until the deadline, from now.
    public var processingTime: Duration
    /// The lifetime of job and result, from now.
    public var lifetime: Duration

    /// Describes a job whose picture has just been uploaded.
    public init(
        id: UUID = UUID(), userID: UUID, lane: ImageLane = .standard, awaitsTurn: Bool = false, estimatedCost: Duration = .zero,
        templateID: String,
        width: Int? = nil, height: Int? = nil, quality: String? = nil, inputKey: String, requestID: String? = nil,
        traceparent: String? = nil,
        processingTime: Duration = Self.defaultProcessingTime, lifetime: Duration = Self.defaultLifetime
    ) {
        self.id = id
        self.userID = userID
        self.lane = lane
        self.awaitsTurn = awaitsTurn
        self.estimatedCost = estimatedCost
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
