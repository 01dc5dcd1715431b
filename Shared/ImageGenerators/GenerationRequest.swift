public import FoundationEssentials
public import Imaging

/// What a generator is to do in the manner of, as it is kept in the database.
public struct GenerationTemplate: Sendable, Equatable {
    /// The name by which requests choose it.
    public let id: String
    /// Its name for people.
    public let name: String
    /// What a model is asked for, what it is to avoid included.
    public let prompt: String
    /// What the local generator does.
    public let style: PictureStyle

    /// Makes a template of its columns.
    public init(id: String, name: String, prompt: String, style: PictureStyle) {
        self.id = id
        self.name = name
        self.prompt = prompt
        self.style = style
    }
}

/// One picture to be made.
public struct GenerationRequest: Sendable {
    /// The job it is made for; for logs.
    public var jobID: UUID
    /// In what manner.
    public var template: GenerationTemplate
    /// Of what: upright, without metadata, at most 20 MB with what goes around it.
    public var picture: EncodedPicture
    /// Pixels across that are wanted; nil leaves it to the picture.
    public var width: Int?
    /// Pixels down that are wanted; nil leaves it to the picture.
    public var height: Int?
    /// How well it is to be encoded.
    public var quality: PictureQuality
    /// When nobody waits for it any more.
    public var deadline: ContinuousClock.Instant
    /// Is told how far it is, in percent, never less than before; it must not block.
    public var progress: @Sendable (Int) -> Void

    /// Makes a request.
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

/// What a generator made. Nobody has looked at the bytes yet: they are a stranger's when a model made them.
public struct GeneratedImage: Sendable {
    /// The encoded picture.
    public let bytes: [UInt8]
    /// What made it, at most 64 characters.
    public let modelUsed: String
    /// How long it took.
    public let duration: Duration

    /// Makes a result.
    public init(bytes: [UInt8], modelUsed: String, duration: Duration) {
        self.bytes = bytes
        self.modelUsed = modelUsed
        self.duration = duration
    }
}
