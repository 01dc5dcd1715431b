internal import ArgumentParser
internal import CommandLineSupport
internal import Foundation
internal import PostgresClient
internal import Storage

/// The flags of the state that a template gets.
enum TemplateChange: String, EnumerableFlag {
    case draft, publish, disable

    var state: ImageTemplate.State {
        switch self {
        case .draft: .draft
        case .publish: .published
        case .disable: .disabled
        }
    }

    static func help(for value: TemplateChange) -> ArgumentHelp? {
        switch value {
        case .draft: "Do not offer it to apps yet."
        case .publish: "Offer it to apps; a new one is published unless it is a --draft."
        case .disable: "Offer it to apps no more; what was ordered is still made."
        }
    }
}

/// Writes a template: a new one, or some fields of an existing one.
struct TemplatesSetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Write a template; fields that are not given stay as they are.",
        discussion: """
            A new template needs a name, a prompt and a style, which the local generator uses. Apps are offered it at once, unless it is \
            a --draft: look at it with `templates preview`, and --publish it. Jobs that were ordered before \
            use the new prompt if they have not begun. When another operator writes the same template at the same time, one \
            of the two is refused and exits with 1.

              heliographctl templates set oil-painting --prompt-file oil.txt --negative-prompt 'text, logos'
              heliographctl templates set noir --name 'Film Noir' --style vintage --prompt 'Turn it into …' --draft
              heliographctl templates preview noir --out noir.png
              heliographctl templates set noir --publish --position 70
              heliographctl templates set vintage --disable
            """
    )

    @OptionGroup var options: OperatorOptions

    @Argument(help: "The template's id: 1 to 64 of a-z, 0-9 and -.")
    var id: String

    @Option(name: .long, help: "The name that users see: 1 to 80 characters.")
    var name: String?

    @Option(name: .long, help: "One sentence for users: up to 400 characters.")
    var description: String?

    @Option(name: .long, help: ArgumentHelp("The prompt for a model: 1 to 4,000 characters.", valueName: "text"))
    var prompt: String?

    @Option(name: .long, help: ArgumentHelp("A file with the prompt.", valueName: "path"))
    var promptFile: String?

    @Option(name: .long, help: ArgumentHelp("What a model has to avoid: up to 2,000 characters.", valueName: "text"))
    var negativePrompt: String?

    @Option(name: .long, help: "The effect of the local generator, such as watercolor.")
    var style: String?

    @Option(name: .long, help: ArgumentHelp("The https address of an example; empty for none.", valueName: "url"))
    var preview: String?

    @Option(name: .long, help: "Its position in the list; smaller comes first.")
    var position: Int?

    @Flag
    var change: TemplateChange?

    @Flag(name: .long, help: "Print the written template as JSON.")
    var json = false

    mutating func validate() throws {
        guard id.wholeMatch(of: /[a-z0-9][a-z0-9-]{0,63}/) != nil else {
            throw ValidationError("The id is 1 to 64 of a-z, 0-9 and -, and does not begin with -.")
        }
        guard prompt == nil || promptFile == nil else { throw ValidationError("Give --prompt or --prompt-file, not both.") }
        try check("--name", name, 1...80)
        try check("--description", description, 0...400)
        try check("--prompt", prompt, 1...4_000)
        try check("--negative-prompt", negativePrompt, 0...2_000)
        if let style { try check(style: style) }
        if let preview, !preview.isEmpty, !preview.hasPrefix("https://") {
            throw ValidationError("--preview is an https address, or empty.")
        }
    }

    func run() async throws {
        let prompt = try promptText()
        let console = Console.current
        let (new, isNew) = try await options.recording(.templateWritten, detail: id) { transaction in
            let templates = ImageTemplateRepository(transaction)
            let old = try await templates.find(id: id)
            guard let new = template(over: old, prompt: prompt) else {
                console.note("There is no template \(id) yet: a new one needs --name, --style, and --prompt or --prompt-file.")
                throw ExitCode.validationFailure
            }
            guard try await templates.write(new, over: old) else {
                console.note("Another writer changed \(id) at the same time; nothing was written. Check it and try again.")
                throw ExitCode.failure
            }
            return (new, old == nil)
        }
        console.result(json ? try JSONOutput.text(new.json) : "\(isNew ? "added" : "changed") \(id), \(new.state.rawValue)")
    }

    /// The template to write; nil when it is new and a required field is missing.
    private func template(over old: ImageTemplate?, prompt: String?) -> ImageTemplate? {
        guard let name = name ?? old?.name, let prompt = prompt ?? old?.prompt, let style = style ?? old?.style else { return nil }
        return ImageTemplate(
            id: id, name: name, description: description ?? old?.description ?? "",
            preview: preview.map { $0.isEmpty ? nil : $0 } ?? old?.preview, style: style, prompt: prompt,
            negativePrompt: negativePrompt ?? old?.negativePrompt ?? "",
            state: change?.state ?? old?.state ?? .published, position: position ?? old?.position ?? 0)
    }

    private func promptText() throws -> String? {
        guard let promptFile else { return prompt }
        guard let text = try? String(contentsOfFile: promptFile, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines) else {
            throw ValidationError("--prompt-file is not a readable file of UTF-8 text.")
        }
        try check("--prompt-file", text, 1...4_000)
        return text
    }

    /// Checks a length that the database also checks, for a readable error.
    private func check(_ option: String, _ text: String?, _ range: ClosedRange<Int>) throws {
        guard let text else { return }
        guard range ~= text.unicodeScalars.count, !text.utf8.contains(0) else {
            throw ValidationError("\(option) has \(range.lowerBound) to \(range.upperBound) characters.")
        }
    }

    private func check(style: String) throws {
        guard ImageTemplate.styles.contains(style) else {
            throw ValidationError("--style is one of \(ImageTemplate.styles.joined(separator: ", ")).")
        }
    }
}
