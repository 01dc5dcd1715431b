internal import ArgumentParser
internal import CommandLineSupport
internal import Pictures

/// The commands for picture templates, the rows of `image_templates`.
struct TemplatesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "templates",
        abstract: "List, write, preview and delete the templates of pictures. Changes are recorded in the audit log.",
        subcommands: [
            TemplatesListCommand.self, TemplatesSetCommand.self, TemplatesPreviewCommand.self, TemplatesDeleteCommand.self,
        ]
    )
}

extension ImageTemplate {
    /// The template as JSON, with the final prompt for a generator that reads prompts.
    var json: JSONRecord {
        [
            "id": id, "name": name, "description": description, "preview": preview, "style": style, "prompt": prompt,
            "negative_prompt": negativePrompt, "state": state.rawValue, "position": position, "instructions": instructions,
        ]
    }
}
