internal import ArgumentParser

/// Works on what pictures can be made: the rows of `image_templates`.
struct TemplatesCommand: AsyncParsableCommand {
    /// How long a statement may take.
    static let queryTimeout: Duration = .seconds(10)

    static let configuration = CommandConfiguration(
        commandName: "templates",
        abstract: "List, write and look at the templates that pictures are ordered by.",
        subcommands: [TemplatesListCommand.self, TemplatesSetCommand.self, TemplatesPreviewCommand.self]
    )
}
