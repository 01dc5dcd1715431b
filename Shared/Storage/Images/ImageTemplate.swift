internal import PostgresClient

/// What a picture can be turned into: a row of `image_templates`.
public struct ImageTemplate: Sendable, Equatable {
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

    init(row: PostgresRow) throws(PostgresError) {
        id = try row.decode("id")
        name = try row.decode("name")
        description = try row.decode("description")
        preview = try row.decode("preview")
        style = try row.decode("style")
        prompt = try row.decode("prompt")
        negativePrompt = try row.decode("negative_prompt")
    }
}
