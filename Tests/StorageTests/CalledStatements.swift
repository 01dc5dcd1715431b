import Foundation
import Schema
import TestSupport

/// What the sources of a service call of the repositories, as their text shows it: more than is called where two types that a file keeps
/// in variables have functions of the same name and first argument, or where a value decides what is called; and never less.
struct CalledStatements {
    /// A function, or a constant with SQL, of a type.
    struct Member: Hashable, CustomStringConvertible {
        let type: String
        let name: String
        /// What can be the label of the first argument in a call; empty for what is no function.
        let labels: [String]
        var description: String { "\(type).\(name)" + (labels.first.map { $0 == ")" ? "()" : "(\($0))" } ?? "") }

        /// Returns whether a text uses the name as of this member, with whatever before it.
        fileprivate func isNamed(in text: SourceTokens) -> Bool {
            guard let used = text.labels[name] else { return false }
            return labels.isEmpty || used.contains(SourceTokens.noCall) || !used.isDisjoint(with: labels)
        }
    }

    /// The text of each member of the repositories and of what they are made of, without comments, and of the file that it is in.
    private(set) var texts: [Member: [(member: String, file: String)]] = [:]
    private var tokens: [Member: SourceTokens] = [:]
    private var types: Set<String> = []
    private var common: [Source] = []

    /// A file outside of the repositories, which uses them.
    private struct Source {
        let members: [(member: Member, text: String)]
        let types: Set<String>
        let tokens: SourceTokens

        init(_ file: String) {
            let all = CalledStatements.members(of: file)
            types = Set(all.map(\.member.type)).subtracting([""])
            // What a repository calls is looked at where it is reached.
            members = all.filter { !$0.member.type.hasSuffix("Repository") }
            tokens = SourceTokens(members.map(\.text).joined(separator: "\n"))
        }
    }

    init() throws {
        let storage = try ["Accounts", "Pictures", "Push", "Topics"].flatMap { try Self.files(in: "Shared/\($0)") }
        let bus = try Self.files(in: "Shared/EventBus")
        for (index, file) in (storage + bus).enumerated() {
            for (member, text) in Self.members(of: file) where !member.type.isEmpty {
                guard index < storage.count || member.type.hasSuffix("Repository") else { continue }
                texts[member, default: []].append((text, file))
            }
        }
        types = Set(texts.keys.map(\.type))
        tokens = texts.mapValues { SourceTokens($0.map(\.member).joined(separator: "\n")) }
        // A handler is called by the bus, and by no source of a service.
        common = (try Self.files(in: "Shared/ServiceDefaults") + bus + storage.filter { $0.contains(": EventHandler") }).map(Source.init)
    }

    /// Returns the text of each member of the service's own sources, of those of the runner of all services, and of what these use.
    func sources(of role: ServiceRole) throws -> [(member: Member, text: String)] { try files(of: role).flatMap(\.members) }

    private func files(of role: ServiceRole) throws -> [Source] {
        var pending = try Self.files(in: "Services/\(role.rawValue)").map(Source.init)
        pending += common.filter { $0.types.contains("ServiceRunner") }
        var (unseen, files) = (Array(common.indices), [Source]())
        while let file = pending.popLast() {
            let used = unseen.filter { !common[$0].types.isDisjoint(with: file.tokens.all) }
            unseen.removeAll { used.contains($0) }
            pending += used.map { common[$0] }
            files.append(file)
        }
        return files
    }

    /// Returns what of the repositories a service reaches.
    func reached(by role: ServiceRole) throws -> Set<Member> {
        var reached = try files(of: role).reduce(into: Set<Member>()) { $0.formUnion(calls(of: $1.tokens)) }
        var members = Array(reached)
        while let member = members.popLast() {
            guard let text = tokens[member] else { continue }
            let own = texts.keys.filter { $0.type == member.type && text.bare.contains($0.name) && $0.isNamed(in: text) }
            let found = calls(of: text).union(own).subtracting(reached)
            reached.formUnion(found)
            members += found
        }
        return reached
    }

    private func calls(of text: SourceTokens) -> Set<Member> {
        Set(
            texts.keys.filter { member in
                guard text.all.contains(member.type), member.isNamed(in: text) else { return false }
                let receivers = text.receivers[member.name] ?? []
                // On a value that is made in place its type is known, and a type whose values are all made in place is in no variable.
                return receivers.contains(member.type) || text.kept.contains(member.type) && !receivers.isSubset(of: types)
            })
    }

    /// Returns the text of each Swift file of a folder, without comments.
    private static func files(in folder: String) throws -> [String] {
        let root = try PackageRoot.file(folder)
        let names = (FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix(".swift") }
        return try names.sorted().map { name in
            try String(contentsOfFile: "\(root)/\(name)", encoding: .utf8).split(separator: "\n")
                .filter { !$0.drop { $0 == " " }.hasPrefix("//") }.joined(separator: "\n")
        }
    }

    /// Splits a file at its declarations, as the formatter indents them.
    private static func members(of file: String) -> [(member: Member, text: String)] {
        var (type, name, lines) = ("", "", [Substring]())
        var found: [(Member, String)] = []
        for line in file.split(separator: "\n") {
            let indent = line.prefix { $0 == " " }.count
            let words = indent <= 4 ? line.split { !$0.isLetter && !$0.isNumber && $0 != "_" } : []
            let declared = indent == 0 ? ["struct", "extension", "enum", "class", "actor"] : ["func", "init", "let", "var"]
            if let keyword = words.firstIndex(where: { declared.contains(String($0)) }), line.dropFirst(indent).first?.isLetter == true {
                found.append(member(type, name, lines))
                let word = String(words[keyword] == "init" ? "init" : words.dropFirst(keyword + 1).first ?? "")
                if indent == 0 { (type, name) = (word, "") } else { name = word }
                lines = []
            }
            lines.append(line)
        }
        return found + [member(type, name, lines)]
    }

    private static func member(_ type: String, _ name: String, _ lines: [Substring]) -> (Member, String) {
        let text = lines.joined(separator: "\n")
        let isFunction = lines.first?.split(separator: " ").contains("func") ?? false
        return (Member(type: type, name: name, labels: isFunction ? SourceTokens.labels(ofFunction: text) : []), text)
    }
}
