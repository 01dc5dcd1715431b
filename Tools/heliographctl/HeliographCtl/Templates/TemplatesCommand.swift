internal import ArgumentParser
internal import CommandLineSupport
internal import Storage

/// The commands for picture templates, the rows of `image_templates`.
struct TemplatesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "templates",
        abstract: "List, write and preview the templates of pictures.",
        subcommands: [TemplatesListCommand.self, TemplatesSetCommand.self, TemplatesPreviewCommand.self]
    )
}

extension ImageTemplate {
    /// The template as JSON, with the final prompt for a generator that reads prompts.
    var json: JSONRecord {
        [
            "id": id, "name": name, "description": description, "preview": preview, "style": style, "prompt": prompt,
            "negative_prompt": negativePrompt, "enabled": isEnabled, "position": position, "instructions": instructions,
        ]
    }
}
