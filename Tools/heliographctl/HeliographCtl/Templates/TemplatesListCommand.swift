internal import ArgumentParser
internal import CommandLineSupport
internal import Pictures

/// Lists the templates.
struct TemplatesListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the templates in the order in which users see them; apps are offered the published ones.",
        discussion: """
              heliographctl templates list
              heliographctl templates list --json | jq -r '.[] | select(.state == "published") | .id'
            """
    )

    @OptionGroup var database: DatabaseOptions

    @Flag(name: .long, help: "Print JSON, prompts included.")
    var json = false

    func run() async throws {
        try await database.withDatabase { client in
            let templates = try await ImageTemplateRepository(client).all()
            let console = Console.current
            guard !json else { return console.result(try JSONOutput.text(templates.map(\.json))) }
            var table = Table(["ID", "NAME", "STYLE", "STATE", .right("POSITION"), .right("PROMPT")])
            for template in templates {
                table.add([
                    .init(template.id), .init(template.name), .init(template.style),
                    .init(template.state.rawValue, template.state == .published ? .none : .faint),
                    .init("\(template.position)"), .init("\(template.instructions.count) characters"),
                ])
            }
            table.lines(console.style).forEach(console.result)
        }
    }
}
