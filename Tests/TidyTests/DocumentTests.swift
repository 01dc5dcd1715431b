import Foundation
import Testing

@Suite struct DocumentTests {
    static let documents =
        ["README.md", "SECURITY.md", "CONTRIBUTING.md"].compactMap { Checkout.file(at: $0) }
        + Checkout.files(in: ["docs", "deploy/runbooks", "deploy/rollout", "Examples"], extensions: ["md"])

    @Test(arguments: documents)
    func `every path of this repository that a document names exists`(document: SourceFile) {
        for (number, line) in document.lines.enumerated() {
            for match in line.matches(of: /\b(?:Services|Shared|Tools|Tests|Examples|docs|deploy)\/[A-Za-z0-9_+.\/-]*[A-Za-z0-9]/) {
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

    /// The tables themselves are compared by `ConfigurationPageTests` of each service.
    @Test(arguments: [("Where pictures are kept", ["blobStore(", "mediaLinks("]), ("Links to pictures", ["mediaLinks("])])
    func `the page of settings names the services that use the store and the links`(title: String, calls: [String]) throws {
        let page = try #require(Checkout.file(at: "docs/CONFIGURATION.md"))
        let heading = try #require(page.lines.first { $0.hasPrefix("## \(title): ") })
        let named = heading.dropFirst("## \(title): ".count).split(separator: ", ").map(String.init)
        let users = Checkout.swift.filter { file in
            file.path.hasPrefix("Services/") && calls.contains { file.text.contains(".\($0)") }
        }
        #expect(Set(named) == Set(users.map { String($0.path.split(separator: "/")[1]) }))
    }

    @Test func `every setting of the page says what it is`() throws {
        let page = try #require(Checkout.file(at: "docs/CONFIGURATION.md"))
        let rows = page.lines.filter { $0.hasPrefix("| `") }
        #expect(rows.count > 60)
        for row in rows { #expect(!row.contains("|  |"), "\(row)") }
    }

    /// `ConfigurationPageTests` read with a few environments: a setting that is read with none of them is found here alone.
    @Test func `every setting that services read is on the page, and every setting of the page is in the code`() throws {
        let page = try #require(Checkout.file(at: "docs/CONFIGURATION.md"))
        let documented = Set(page.lines.compactMap { $0.prefixMatch(of: /\| `([A-Z][A-Z0-9_]+)` \|/).map { String($0.output.1) } })
        let code = Checkout.swift.filter { $0.path.hasPrefix("Services/") || $0.path.hasPrefix("Shared/") }.map(\.text)
        let verbs = /(?:settings\.|try )(string|optionalString|int|number|seconds|secret|choice|authorities|rate)\(\s*"([A-Z][A-Z0-9_]+)"/
        var read: Set<String> = []
        for match in code.flatMap({ $0.matches(of: verbs) }) {
            let name = String(match.output.2)
            read.formUnion(match.output.1 == "rate" ? ["\(name)_PER_MINUTE", "\(name)_BURST"] : [name])
        }
        #expect(read.count > 80)
        #expect(read.subtracting(documented).isEmpty, "not documented")
        // Some names are constants before they are read.
        let unread = documented.subtracting(read).filter { name in !code.contains { $0.contains("\"\(name)\"") } }
        #expect(unread.isEmpty, "not read")
    }

    @Test func `the policies of the RateLimit headers are those that requests count against`() throws {
        let page = try #require(Checkout.file(at: "docs/api/limits.md"))
        let documented = page.lines.compactMap { $0.prefixMatch(of: /\| `([a-z_]+)` \|/).map { String($0.output.1) } }
        let limiters = /RateLimiter(?:<\w+>)?\([^()]*\bname: "([a-z_]+)"/
        let code = Checkout.swift.filter { $0.path.hasPrefix("Services/identity-api/") }.flatMap { $0.text.matches(of: limiters) }
        #expect(code.count > 8)
        #expect(documented.sorted() == code.map { String($0.output.1) }.sorted())
    }

    @Test func `the client for apps has a name for each error code`() throws {
        let page = try #require(Checkout.file(at: "docs/api/errors.md"))
        let rows = page.lines.drop { $0 != "## What to do about an error" }.prefix { $0 != "## Reasons of a session" }
        let codes = rows.compactMap { $0.prefixMatch(of: /\| `([a-z_]+)` \|/).map { String($0.output.1) } }
        #expect(codes.count > 30)
        let names = try #require(Checkout.file(at: "Shared/MobileClient/Core/HeliographError+codes.swift")).text
        for code in codes { #expect(names.contains("(rawValue: \"\(code)\")"), "\(code)") }
    }

    /// Neither the compiler nor the type of a kind leads to the lists of the tests.
    @Test func `the page about kinds of push names each file that lists them`() throws {
        let names = try #require(Checkout.file(at: "Shared/Push/Content/NotificationKind.swift")).lines
            .compactMap { $0.wholeMatch(of: #/    case (\w+)(?: = "(\w+)")?/#) }
            .map { (kind: $0.output.1, text: $0.output.2 ?? $0.output.1) }
        #expect(names.count > 8)
        let howTo = try #require(Checkout.file(at: "docs/HOW-TO.md")).text
        let page = try #require(howTo.firstMatch(of: #/## … add a kind of push\n.*?\n## /#.dotMatchesNewlines())).output
        var lists: [String] = []
        for file in Checkout.swift {
            let missing = names.lazy.filter { name in
                let type = name.kind.prefix(1).uppercased() + name.kind.dropFirst() + "Push("
                return ![".\(name.kind)", "\"\(name.text)\"", type].contains { file.text.contains($0) }
            }
            // A list may lack one kind. Two are enough to know that a file is no list.
            guard missing.prefix(2).count < 2 else { continue }
            lists.append(file.path)
            let isNamed = page.contains(file.path)
            #expect(isNamed, "\(file.path) lists the kinds of push")
        }
        #expect(lists.count > 7)
    }

    @Test func `documents were found`() {
        #expect(Self.documents.count > 10)
    }
}
