import Foundation
import Testing

@Suite struct DocumentTests {
    static let documents =
        ["README.md", "SECURITY.md", "CONTRIBUTING.md"].compactMap { Checkout.file(at: $0) }
        + Checkout.files(in: ["docs", "deploy/runbooks", "deploy/rollout"], extensions: ["md"])

    @Test(arguments: documents)
    func `every path of this repository that a document names exists`(document: SourceFile) {
        for (number, line) in document.lines.enumerated() {
            for match in line.matches(of: /\b(?:Services|Shared|Tools|Tests|docs|deploy)\/[A-Za-z0-9_+.\/-]*[A-Za-z0-9]/) {
                let path = "\(Checkout.root)/\(match.output)"
                #expect(FileManager.default.fileExists(atPath: path), "\(document.path):\(number + 1) names \(match.output)")
            }
        }
    }

    @Test(arguments: documents)
    func `every document that a document links to exists`(document: SourceFile) {
        let folder = URL(fileURLWithPath: "\(Checkout.root)/\(document.path)").deletingLastPathComponent()
        for (number, line) in document.lines.enumerated() {
            for match in line.matches(of: /\]\(([^)#:]+)(?:#[^)]*)?\)/) {
                let target = folder.appendingPathComponent(String(match.output.1)).standardizedFileURL.path
                #expect(FileManager.default.fileExists(atPath: target), "\(document.path):\(number + 1) links to \(match.output.1)")
            }
        }
    }

    @Test(arguments: documents)
    func `every shell block of a document parses`(document: SourceFile) throws {
        for block in document.text.matches(of: /```(?:sh|bash)\n(.*?)```/.dotMatchesNewlines()) {
            let (shell, input) = (Process(), Pipe())
            (shell.executableURL, shell.arguments) = (URL(fileURLWithPath: "/bin/bash"), ["-n"])
            shell.standardInput = input
            try shell.run()
            input.fileHandleForWriting.write(Data(block.output.1.utf8))
            try input.fileHandleForWriting.close()
            shell.waitUntilExit()
            #expect(shell.terminationStatus == 0, "\(document.path): \(block.output.1)")
        }
    }

    @Test(arguments: documents)
    func `every make target that a document names exists`(document: SourceFile) throws {
        let makefile = try #require(Checkout.file(at: "Makefile"))
        for match in document.text.matches(of: /(?:`|\n)make ([a-z][a-z-]+)/) {
            #expect(
                makefile.lines.contains { $0.hasPrefix("\(match.output.1):") || $0.contains(" \(match.output.1):") },
                "make \(match.output.1)")
        }
    }

    @Test func `every setting that services read is documented, and every documented one is read`() throws {
        let document = try #require(Checkout.file(at: "docs/CONFIGURATION.md")).text
        let sources = Checkout.swift.filter { $0.path.hasPrefix("Services/") || $0.path.hasPrefix("Shared/") }.map(\.text)
        var read: Set<String> = []
        for source in sources {
            let pattern = /(?:settings\.|try )(string|optionalString|int|double|seconds|base64|rate)\(\s*"([A-Z][A-Z0-9_]+)"/
            for match in source.matches(of: pattern) {
                let name = String(match.output.2)
                read.formUnion(match.output.1 == "rate" ? ["\(name)_PER_MINUTE", "\(name)_BURST"] : [name])
            }
        }
        let table = document.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { $0.dropFirst(2).prefix { $0 != "|" } }
        let documented = Set(table.flatMap { $0.matches(of: /`([A-Z][A-Z0-9_]+)`/).map { String($0.output.1) } })
        #expect(read.count > 60)
        #expect(read.subtracting(documented).isEmpty, "not documented")
        let literals = sources.joined()
        #expect(documented.subtracting(read).allSatisfy { literals.contains("\"\($0)\"") }, "not read")
    }

    @Test func `documents were found`() {
        #expect(Self.documents.count > 10)
    }
}
