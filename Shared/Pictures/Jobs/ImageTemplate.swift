internal import PostgresClient

/// A style that pictures can be ordered in: a row of `image_templates`.
public struct ImageTemplate: Sendable, Equatable {
    /// Whether apps are offered it. Jobs that were ordered before are processed in any state.
    public enum State: String, Sendable, CaseIterable {
        /// Not yet: an operator is writing it.
        case draft
        /// It can be ordered.
        case published
        /// No more.
        case disabled
    }

    /// The styles of the local generator: the cases of its `PictureStyle`, as a test checks.
    public static let styles = ["anime-style", "pencil-sketch", "watercolor", "oil-painting", "pop-art", "vintage"]

    /// The public id, such as `anime-style`.
    public let id: String
    /// The name for users, such as `Anime Style`.
    public let name: String
    /// One sentence for users.
    public let description: String
    /// The https address of an example; `nil` without an example.
    public let preview: String?
    /// The style of the local generator, such as `anime-style`.
    public let style: String
    /// The prompt for generators that take text.
    public let prompt: String
    /// The things such a generator is told to avoid; may be empty.
    public let negativePrompt: String

    /// The state.
    public let state: State
    /// The position in the list for users, ascending.
    public let position: Int

    /// The full text for generators: the prompt, followed by the things to avoid, for which models have no separate field.
    public var instructions: String { negativePrompt.isEmpty ? prompt : "\(prompt)\n\nAvoid: \(negativePrompt)" }

    /// Makes a template from its columns; the database checks their lengths.
    public init(
        id: String, name: String, description: String, preview: String? = nil, style: String, prompt: String,
        negativePrompt: String = "", state: State = .published, position: Int = 0
    ) {
        self.id = id
        self.name = name
        self.description = description
        self.preview = preview
        self.style = style
        self.prompt = prompt
        self.negativePrompt = negativePrompt
        self.state = state
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
        state = try row.decodeCase("state")
        position = try row.decode("position")
    }
}
