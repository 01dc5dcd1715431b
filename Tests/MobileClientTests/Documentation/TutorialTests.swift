import Foundation
import Testing

/// All Swift that the documents of the client show is checked against the client.
@Suite(.timeLimit(.minutes(10))) struct TutorialTests {
    private static let catalogue = PushSamples.root.appending(path: "Shared/MobileClient/MobileClient.docc")
    private static let resources = catalogue.appending(path: "Tutorials/Resources")
    private static let example = PushSamples.root.appending(path: "Examples/HeliographDemo")

    private static func files(in folder: URL, _ ending: String) throws -> [URL] {
        let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        return names.filter { $0.hasSuffix(ending) }.sorted().map { folder.appending(path: $0) }
    }

    private static func text(of file: URL) throws -> String { try String(contentsOf: file, encoding: .utf8) }

    @Test func `the documentation has its articles and the tutorial, and makes no warning`() async throws {
        let build = try await DocumentationBuild.shared.value
        #expect(build.made.status == 0, "\(build.made.output)")
        let pages = build.pages
        for article in try Self.files(in: Self.catalogue, ".md") where article.lastPathComponent != "MobileClient.md" {
            let name = article.deletingPathExtension().lastPathComponent.lowercased()
            #expect(pages.contains("documentation/mobileclient/\(name).json"), "\(name)")
        }
        #expect(pages.contains { $0.hasPrefix("tutorials/mobileclient/") }, "\(pages.count)")
    }

    @Test func `the Swift of articles and documents is Swift that fits the client`() async throws {
        let documents =
            try Self.files(in: Self.catalogue, ".md")
            + [PushSamples.root.appending(path: "docs/MOBILE.md"), Self.example.appending(path: "README.md")]
        let blocks = try documents.flatMap { try SwiftSnippet.blocks(of: $0) }
        #expect(blocks.count >= 12)
        let files = Dictionary(uniqueKeysWithValues: blocks.map { ("\($0.name).swift", $0.file) })
        let errors = try await DocumentationBuild.shared.value.errors(in: files)
        #expect(errors.isEmpty, "\(errors)")
    }

    /// A file of the tutorial is `section-step-name`. Those of the last steps are an app together; one of an earlier step is checked within
    /// a type of its own, whose names hide those of the later step.
    @Test func `the files of the tutorial fit the client, at each step`() async throws {
        let all = try Self.files(in: Self.resources, ".swift")
        #expect(all.count >= 6)
        let sections = Dictionary(grouping: all) { String($0.lastPathComponent.prefix(2)) }
        var files: [String: String] = [:]
        for steps in sections.values {
            let last = try #require(steps.last)
            for step in steps {
                let name = step.lastPathComponent
                var text = try Self.text(of: step)
                if step != last {
                    let lines = text.replacing("@main\n", with: "").split(separator: "\n", omittingEmptySubsequences: false)
                    let imports = lines.filter { $0.hasPrefix("import ") }
                    let rest = lines.filter { !$0.hasPrefix("import ") }
                    let frame = "enum Step\(name.prefix(5).replacing("-", with: "_")) {"
                    text = (imports + [Substring(frame)] + rest + ["}"]).joined(separator: "\n")
                }
                files[name] = text
            }
        }
        let errors = try await DocumentationBuild.shared.value.errors(in: files)
        #expect(errors.isEmpty, "\(errors)")
    }

    @Test func `the tutorial shows each of its files`() throws {
        let names = Set(try Self.files(in: Self.resources, ".swift").map(\.lastPathComponent))
        var shown: Set<String> = []
        for tutorial in try Self.files(in: Self.catalogue, ".tutorial") {
            shown.formUnion(try Self.text(of: tutorial).matches(of: /file: "?([^",)\s]+\.swift)/).map { String($0.output.1) })
        }
        #expect(names == shown)
    }

    @Test func `the app of Examples fits the client`() async throws {
        let sources = try Self.files(in: Self.example, ".swift")
        #expect(sources.count >= 6)
        let files = Dictionary(uniqueKeysWithValues: try sources.map { ($0.lastPathComponent, try Self.text(of: $0)) })
        let errors = try await DocumentationBuild.shared.value.errors(in: files)
        #expect(errors.isEmpty, "\(errors)")
    }

    @Test func `a call that the client does not have is refused`() async throws {
        let snippet = SwiftSnippet(name: "wrong", code: "try await client.images.noSuchMethod()")
        let errors = try await DocumentationBuild.shared.value.errors(in: ["wrong.swift": snippet.file])
        #expect(errors.contains("noSuchMethod"), "\(errors)")
    }
}
