internal import ArgumentParser
internal import CommandLineSupport
internal import Storage

/// Shows the prompt that a generator gets for a template.
struct TemplatesPreviewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "preview",
        abstract: "Show the final prompt of a template.",
        discussion: """
            The prompt and the negative prompt, joined as a model gets them; the generator adds only the instruction to answer \
            with a picture. The local generator ignores the prompt and uses the style.

              heliographctl templates preview watercolor
            """
    )

    @OptionGroup var database: DatabaseOptions

    @Argument(help: "The template's id.")
    var id: String

    @Flag(name: .long, help: "Print JSON, with all fields.")
    var json = false

    func run() async throws {
        try await database.withDatabase { client in
            let console = Console.current
            guard let template = try await ImageTemplateRepository(client).find(id: id) else {
                console.note("There is no template \(id).")
                throw ExitCode.nothingFound
            }
            console.result(json ? try JSONOutput.text(template.json) : template.instructions)
        }
    }
}
