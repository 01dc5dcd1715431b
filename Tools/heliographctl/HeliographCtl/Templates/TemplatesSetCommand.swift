internal import Accounts
internal import ArgumentParser
internal import CommandLineSupport
internal import Foundation
internal import Pictures
internal import PostgresClient

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
            A new template needs a name, a prompt and a style, which the local generator uses. It is the last of the list, unless you give \
            a --position. Apps are offered it at once, unless it is \
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
        try ShownText.check("--name", name, 1...80)
        try ShownText.check("--description", description, 0...400)
        try ShownText.check("--prompt", prompt, 1...4_000, lineBreaks: true)
        try ShownText.check("--negative-prompt", negativePrompt, 0...2_000, lineBreaks: true)
        if let style { try check(style: style) }
        if let preview, !preview.isEmpty, URL(string: preview)?.host()?.isEmpty != false || !Self.isAddress(preview) {
            throw ValidationError("--preview is an https address of up to 2,000 characters, or empty.")
        }
        guard position.map({ Self.positions ~= $0 }) != false else {
            throw ValidationError("--position is \(Self.positions.lowerBound) to \(Self.positions.upperBound).")
        }
    }

    func run() async throws {
        let prompt = try promptText()
        let console = Console.current
        let (new, isNew) = try await options.recording(.templateWritten, detail: id) { transaction in
            let templates = ImageTemplateRepository(transaction)
            let old = try await templates.find(id: id)
            let last = try await templates.all().map(\.position).max() ?? 0
            guard let new = template(over: old, prompt: prompt, last: last) else {
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
    private func template(over old: ImageTemplate?, prompt: String?, last: Int) -> ImageTemplate? {
        guard let name = name ?? old?.name, let prompt = prompt ?? old?.prompt, let style = style ?? old?.style else { return nil }
        return ImageTemplate(
            id: id, name: name, description: description ?? old?.description ?? "",
            preview: preview.map { $0.isEmpty ? nil : $0 } ?? old?.preview, style: style, prompt: prompt,
            negativePrompt: negativePrompt ?? old?.negativePrompt ?? "",
            state: change?.state ?? old?.state ?? .published,
            position: position ?? old?.position ?? min(last + Self.step, Self.positions.upperBound))
    }

    private func promptText() throws -> String? {
        guard let promptFile else { return prompt }
        guard let text = try? String(contentsOfFile: promptFile, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines) else {
            throw ValidationError("--prompt-file is not a readable file of UTF-8 text.")
        }
        try ShownText.check("--prompt-file", text, 1...4_000, lineBreaks: true)
        return text
    }

    /// Room for other templates between two.
    private static let step = 10
    private static let positions = -1_000_000...1_000_000

    /// Whether it is an address as apps load it: no more than printable ASCII.
    private static func isAddress(_ text: String) -> Bool {
        text.hasPrefix("https://") && text.utf8.count <= 2_000 && text.utf8.allSatisfy { 0x21...0x7E ~= $0 }
    }

    private func check(style: String) throws {
        guard ImageTemplate.styles.contains(style) else {
            throw ValidationError("--style is one of \(ImageTemplate.styles.joined(separator: ", ")).")
        }
    }
}
