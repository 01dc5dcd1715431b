internal import ArgumentParser
internal import CommandLineSupport
internal import Foundation
internal import ImageProbe
internal import Imaging
internal import Pictures

/// Shows the prompt that a generator gets for a template, or makes a picture with it.
struct TemplatesPreviewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "preview",
        abstract: "Show the final prompt of a template, or make a picture with it by the local generator.",
        discussion: """
            The prompt and the negative prompt, joined as a model gets them; the generator adds only the instruction to answer \
            with a picture. The local generator ignores the prompt and uses the style: with --out it makes a picture here, of a drawn \
            landscape or of your --photo, as image-worker does with IMAGE_GENERATOR=local. What a model makes of the prompt, it cannot show.

              heliographctl templates preview watercolor
              heliographctl templates preview watercolor --out watercolor.png
              heliographctl templates preview watercolor --photo me.jpg --out watercolor.jpg
            """
    )

    @OptionGroup var database: DatabaseOptions

    @Argument(help: "The template's id.")
    var id: String

    @Option(name: .long, help: ArgumentHelp("Write a picture there: .png, .jpg or .webp.", valueName: "path"))
    var out: String?

    @Option(name: .long, help: ArgumentHelp("The picture to make it of: JPEG, PNG, WebP or HEIC.", valueName: "path"))
    var photo: String?

    @Flag(name: .long, help: "Print JSON, with all fields.")
    var json = false

    mutating func validate() throws {
        guard out != nil || photo == nil else { throw ValidationError("--photo belongs to --out.") }
        if let out, Self.format(of: out) == nil { throw ValidationError("--out ends in .png, .jpg or .webp.") }
    }

    func run() async throws {
        let console = Console.current
        let template = try await database.withDatabase { try await ImageTemplateRepository($0).find(id: id) }
        guard let template else {
            console.note("There is no template \(id).")
            throw ExitCode.nothingFound
        }
        if let out, let format = Self.format(of: out) {
            let picture = try await TemplatePreview(template: template, format: format).make(of: try photoFile())
            do {
                try Data(picture.bytes).write(to: URL(fileURLWithPath: out), options: .atomic)
            } catch {
                console.note("\(out) cannot be written: \(error.localizedDescription)")
                throw ExitCode.failure
            }
            console.note("Wrote \(out): \(picture.width)x\(picture.height), \(template.style) by the local generator.")
            if !json { return }
        }
        (json ? [try JSONOutput.text(template.json)] : PrintableText.lines(of: template.instructions)).forEach(console.result)
    }

    private static func format(of path: String) -> ImageFormat? {
        switch URL(fileURLWithPath: path).pathExtension.lowercased() {
        case "png": .png
        case "jpg", "jpeg": .jpeg
        case "webp": .webp
        default: nil
        }
    }

    private func photoFile() throws -> [UInt8]? {
        guard let photo else { return nil }
        do {
            return [UInt8](try Data(contentsOf: URL(fileURLWithPath: photo)))
        } catch {
            Console.current.note("\(photo) cannot be read: \(error.localizedDescription)")
            throw ExitCode.failure
        }
    }
}
