import Foundation

/// The commands of a tool that documents name.
public enum DocumentedCommands {
    /// A value for each placeholder and variable.
    private static let values = [
        "stream": "notification.requested", "id": "019aa3f0-5c1e-7b2a-9d6e-2f4b8c0d1e3f", "fcm_url": "http://127.0.0.1:9080",
        "email": "ada@example.org",
    ]

    /// Returns the arguments of each command of a tool: in a code span, or on a line of its own.
    public static func arguments(of tool: String) throws -> [[String]] {
        let files = FileManager.default
        let documents =
            ["README.md", "CONTRIBUTING.md"]
            + ["docs", "docs/api", "docs/operations", "deploy/runbooks", "deploy/rollout"].flatMap { folder in
                (try? files.contentsOfDirectory(atPath: "\(PackageRoot.path)/\(folder)"))?.map { "\(folder)/\($0)" } ?? []
            }
        let texts = documents.filter { $0.hasSuffix(".md") }.compactMap {
            try? String(contentsOfFile: "\(PackageRoot.path)/\($0)", encoding: .utf8)
        }
        let pattern = try Regex("(?:^|`)\(tool) ([^`\n]*)", as: (Substring, Substring).self).anchorsMatchLineEndings()
        let commands = texts.flatMap { $0.replacing("\\\n", with: " ").matches(of: pattern).map { String($0.output.1) } }
        return Set(commands).sorted().map(words)
    }

    /// Returns the arguments of each command of a tool that has a line of its own in a document, as it stands there.
    public static func arguments(of tool: String, linesOf document: String) throws -> [[String]] {
        let text = try String(contentsOfFile: PackageRoot.file(document), encoding: .utf8)
        return text.split(separator: "\n").filter { $0.hasPrefix(tool + " ") }.map { words(String($0.dropFirst(tool.count + 1))) }
    }

    /// Returns the pages of a folder in which a command of a tool has a line of its own.
    public static func pages(of tool: String, in folder: String) throws -> [String] {
        let files = try FileManager.default.contentsOfDirectory(atPath: PackageRoot.file(folder))
        let pages = files.filter { $0.hasSuffix(".md") }.sorted().map { "\(folder)/\($0)" }
        return try pages.filter { try !arguments(of: tool, linesOf: $0).isEmpty }
    }

    private static func words(_ command: String) -> [String] {
        var arguments: [String] = []
        for match in command.matches(of: /'([^']*)'|(\S+)/) {
            guard let word = match.output.2 else {
                arguments.append(String(match.output.1 ?? ""))
                continue
            }
            if ["#", ">", ">>", "|", "→"].contains(word) { break }
            let name = word.trimmingCharacters(in: CharacterSet(charactersIn: "<>$")).lowercased()
            let isPlaceholder = word.hasPrefix("<") || word.hasPrefix("$")
            arguments.append(isPlaceholder ? values[name] ?? "00000000-0000-4000-8000-000000000001" : String(word))
        }
        return arguments
    }
}
