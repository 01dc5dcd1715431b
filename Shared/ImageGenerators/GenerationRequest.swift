public import FoundationEssentials
public import ImageProbe
public import Imaging

/// A template as stored in the database: the style of the pictures to make.
public struct GenerationTemplate: Sendable, Equatable {
    /// The identifier by which requests choose the template.
    public let id: String
    /// The display name.
    public let name: String
    /// The prompt for a model, including what it must avoid.
    public let prompt: String
    /// The style of the local generator.
    public let style: PictureStyle

    /// Creates a template from its columns.
    public init(id: String, name: String, prompt: String, style: PictureStyle) {
        self.id = id
        self.name = name
        self.prompt = prompt
        self.style = style
    }
}

/// A request for one picture.
public struct GenerationRequest: Sendable {
    /// The job, for logs.
    public var jobID: UUID
    /// The style of the picture.
    public var template: GenerationTemplate
    /// The source picture: upright, without metadata. The whole request to a model is limited to 20 MB.
    public var picture: EncodedPicture
    /// The requested width in pixels; nil follows the source picture.
    public var width: Int?
    /// The requested height in pixels; nil follows the source picture.
    public var height: Int?
    /// The requested encoding quality.
    public var quality: PictureQuality
    /// The time at which the generator must stop.
    public var deadline: ContinuousClock.Instant
    /// Receives the progress in percent, which never decreases; it must not block.
    public var progress: @Sendable (Int) -> Void

    /// Creates a request.
    public init(
        jobID: UUID, template: GenerationTemplate, picture: EncodedPicture, width: Int? = nil, height: Int? = nil,
        quality: PictureQuality, deadline: ContinuousClock.Instant, progress: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        self.jobID = jobID
        self.template = template
        self.picture = picture
        self.width = width
        self.height = height
        self.quality = quality
        self.deadline = deadline
        self.progress = progress
    }
}

/// The answer of a generator. Its bytes are unchecked, and untrusted when a model made them.
public struct GeneratedImage: Sendable {
    /// The encoded picture.
    public let bytes: [UInt8]
    /// The model, at most 64 characters.
    public let modelUsed: String
    /// The duration of the call.
    public let duration: Duration

    /// Creates a result.
    public init(bytes: [UInt8], modelUsed: String, duration: Duration) {
        self.bytes = bytes
        self.modelUsed = modelUsed
        self.duration = duration
    }
}
