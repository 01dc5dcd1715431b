internal import ArgumentParser

/// The commands for picture templates, the rows of `image_templates`.
struct TemplatesCommand: AsyncParsableCommand {
    /// Timeout of a statement.
    static let queryTimeout: Duration = .seconds(10)

    static let configuration = CommandConfiguration(
        commandName: "templates",
        abstract: "List, write and preview the templates of pictures.",
        subcommands: [TemplatesListCommand.self, TemplatesSetCommand.self, TemplatesPreviewCommand.self]
    )
}
