import ArgumentParser
import Foundation
import HeliographCtl
import Testing

/// The commands of heliographctl that documents name, parsed by its own definition.
struct DocumentedCommandTests {
    static let commands: [String] = {
        var root = URL(fileURLWithPath: #filePath)
        while !FileManager.default.fileExists(atPath: root.appendingPathComponent("Package.swift").path) { root.deleteLastPathComponent() }
        let documents =
            ["README.md", "CONTRIBUTING.md"]
            + ["docs", "deploy/runbooks", "deploy/rollout"].flatMap { folder in
                (try? FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent(folder).path))?
                    .filter { $0.hasSuffix(".md") }.map { "\(folder)/\($0)" } ?? []
            }
        let texts = documents.compactMap { try? String(contentsOf: root.appendingPathComponent($0), encoding: .utf8) }
        // A command in a code span, or on a line of its own.
        return Set(
            texts.flatMap { text in
                text.replacing("\\\n", with: " ").matches(of: /(?:^|`)heliographctl ([^`\n]*)/.anchorsMatchLineEndings())
                    .map { String($0.output.1) }
            }
        ).sorted()
    }()

    /// A value for each placeholder and variable.
    private static let values = ["stream": "notification.requested", "id": "1732400000000-0", "fcm_url": "http://127.0.0.1:9080"]

    @Test(arguments: commands) func `every documented command of heliographctl is accepted`(command: String) throws {
        var arguments: [String] = []
        for match in command.matches(of: /'([^']*)'|(\S+)/) {
            guard let word = match.output.2 else {
                arguments.append(String(match.output.1 ?? ""))
                continue
            }
            if ["#", ">", ">>", "|", "→"].contains(word) { break }
            let name = word.trimmingCharacters(in: CharacterSet(charactersIn: "<>$")).lowercased()
            let isPlaceholder = word.hasPrefix("<") || word.hasPrefix("$")
            arguments.append(isPlaceholder ? Self.values[name] ?? "00000000-0000-4000-8000-000000000001" : String(word))
        }
        do {
            _ = try HeliographCtl.parseAsRoot(arguments)
        } catch {
            // A document may name a command without its arguments.
            let isName = arguments.allSatisfy { $0.contains(/^[a-z-]+$/) && !$0.hasPrefix("-") }
            let message = HeliographCtl.message(for: error)
            #expect(isName && message.hasPrefix("Missing expected argument"), "\(message)")
        }
    }

    @Test func `documented commands were found`() { #expect(Self.commands.count > 10) }
}
