internal import PostgresClient

/// What a picture can be turned into: a row of `image_templates`.
public struct ImageTemplate: Sendable, Equatable {
    /// What the local generator can do; the cases of its `PictureStyle`, which a test holds.
    public static let styles = ["anime-style", "pencil-sketch", "watercolor", "oil-painting", "pop-art", "vintage"]

    /// The public id, such as `anime-style`.
    public let id: String
    /// What users call it, such as `Anime Style`.
    public let name: String
    /// One sentence for users.
    public let description: String
    /// The https address of an example; `nil` when there is none.
    public let preview: String?
    /// The style of the local generator, such as `anime-style`.
    public let style: String
    /// What a generator that reads is told to do.
    public let prompt: String
    /// What it is told to avoid; empty when nothing.
    public let negativePrompt: String

    /// Whether it can be ordered.
    public let isEnabled: Bool
    /// Where it stands in the list that users see; smaller comes first.
    public let position: Int

    /// All that a generator that reads is told: the prompt, and what to avoid, for which models have no field of its own.
    public var instructions: String { negativePrompt.isEmpty ? prompt : "\(prompt)\n\nAvoid: \(negativePrompt)" }

    /// Makes a template of its columns; the database checks their lengths.
    public init(
        id: String, name: String, description: String, preview: String? = nil, style: String, prompt: String,
        negativePrompt: String = "", isEnabled: Bool = true, position: Int = 0
    ) {
        self.id = id
        self.name = name
        self.description = description
        self.preview = preview
        self.style = style
        self.prompt = prompt
        self.negativePrompt = negativePrompt
        self.isEnabled = isEnabled
        self.position = position
    }

    init(row: PostgresRow) throws(PostgresError) {
        id = try row.decode("id")
        name = try row.decode("name")
        description = try row.decode("description")
        preview = try row.decode("preview")
        style = try row.decode("style")
        prompt = try row.decode("prompt")
        negativePrompt = try row.decode("negative_prompt")
        isEnabled = try row.decode("enabled")
        position = try row.decode("position")
    }
}
