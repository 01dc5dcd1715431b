import Foundation
import Testing

/// A text file of this checkout.
struct SourceFile: Sendable, CustomTestStringConvertible {
    /// The path below the package's root.
    let path: String
    let lines: [Substring]

    var testDescription: String { path }

    var text: String { lines.joined(separator: "\n") }

    /// The modules that the file imports, in order.
    var imports: [String] {
        lines.compactMap { line in
            let words = line.split(separator: " ").drop { ["public", "internal", "package", "private", "@testable"].contains($0) }
            guard words.first == "import", let name = words.dropFirst().last else { return nil }
            return String(name.split(separator: ".")[0])
        }
    }

    /// Whether the file is part of a service, of a shared module, or of a tool of operators.
    var isProduction: Bool { isExecutable || ["Shared/", "Tools/CommandLineSupport/"].contains { path.hasPrefix($0) } }

    /// Whether the file is part of a service or of a tool of operators instead of a shared module.
    var isExecutable: Bool { ["Services/", "Tools/heliographctl/", "Tools/heliograph-load/"].contains { path.hasPrefix($0) } }

    /// The folder below `Shared`, `Services` or `Tools` that the file is in, such as `EventBus` or `identity-api`.
    var owner: String { String(path.split(separator: "/").dropFirst().first ?? "") }
}

/// The files that the tidy tests check.
enum Checkout {
    static let root: String = {
        var folder = URL(fileURLWithPath: #filePath)
        while !FileManager.default.fileExists(atPath: folder.appendingPathComponent("Package.swift").path) {
            folder.deleteLastPathComponent()
        }
        return folder.path
    }()

    /// Returns all files below `folders` with one of `extensions`.
    static func files(in folders: [String], extensions: Set<String>) -> [SourceFile] {
        folders.flatMap { folder in
            let names = FileManager.default.enumerator(atPath: "\(root)/\(folder)")?.compactMap { $0 as? String } ?? []
            return names.sorted().filter { extensions.contains(URL(fileURLWithPath: $0).pathExtension) }
                .compactMap { file(at: "\(folder)/\($0)") }
        }
    }

    /// Returns the file at a path below the root; nil when it is not a text file.
    static func file(at path: String) -> SourceFile? {
        guard let text = try? String(contentsOfFile: "\(root)/\(path)", encoding: .utf8) else { return nil }
        return SourceFile(path: path, lines: text.split(separator: "\n", omittingEmptySubsequences: false))
    }

    static let swift = files(in: ["Services", "Shared", "Tools", "Tests"], extensions: ["swift"])
    static let code = swift + files(in: ["Services", "Shared", "Tools", "Tests", "deploy"], extensions: ["c", "cpp", "h", "sh", "py"])
}
