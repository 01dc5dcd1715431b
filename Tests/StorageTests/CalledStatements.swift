import Foundation
import Storage
import TestSupport

/// What the sources of a service call of the repositories, as their text shows it: more than is called where two types of a file have
/// functions of the same name that are called on variables, and never less.
struct CalledStatements {
    /// A function, or a constant with SQL, of a repository.
    struct Member: Hashable, CustomStringConvertible {
        let type: String
        let name: String
        var description: String { "\(type).\(name)" }
    }

    /// The text of each member of the repositories, without comments, and of the file that it is in.
    private(set) var texts: [Member: [(member: String, file: String)]] = [:]
    private var tokens: [Member: SourceTokens] = [:]
    private var types: Set<String> = []
    private var common: [(types: Set<String>, tokens: SourceTokens)] = []

    init() throws {
        for file in try Self.files(in: "Shared/Storage") + Self.files(in: "Shared/EventBus") {
            for (member, text) in Self.members(of: file) where member.type.hasSuffix("Repository") {
                texts[member, default: []].append((text, file))
            }
        }
        types = Set(texts.keys.map(\.type))
        tokens = texts.mapValues { SourceTokens($0.map(\.member).joined(separator: "\n")) }
        common = try (Self.files(in: "Shared/ServiceDefaults") + Self.files(in: "Shared/EventBus")).map { file in
            (Set(Self.members(of: file).map(\.member.type)), SourceTokens(file))
        }
    }

    /// Returns what a service reaches: from its own sources, from those of the runner of all services, and from what these use.
    func reached(by role: ServiceRole) throws -> Set<Member> {
        var pending = try Self.files(in: "Services/\(role.rawValue)").map(SourceTokens.init)
        pending += common.filter { $0.types.contains("ServiceRunner") }.map(\.tokens)
        var (unseen, reached) = (Array(common.indices), Set<Member>())
        while let file = pending.popLast() {
            let used = unseen.filter { !common[$0].types.isDisjoint(with: file.all) }
            unseen.removeAll { used.contains($0) }
            pending += used.map { common[$0].tokens }
            reached.formUnion(calls(of: file))
        }
        var members = Array(reached)
        while let member = members.popLast() {
            guard let text = tokens[member] else { continue }
            let own = texts.keys.filter { $0.type == member.type && text.all.contains($0.name) }
            let found = calls(of: text).union(own).subtracting(reached)
            reached.formUnion(found)
            members += found
        }
        return reached
    }

    private func calls(of text: SourceTokens) -> Set<Member> {
        Set(
            texts.keys.filter { member in
                guard text.all.contains(member.type), let receivers = text.receivers[member.name] else { return false }
                // On a value that is made in place its type is known.
                return receivers.contains(member.type) || !receivers.isSubset(of: types)
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
            let declared = indent == 0 ? ["struct", "extension", "enum", "final", "class", "actor"] : ["func", "init", "let", "var"]
            if let keyword = words.firstIndex(where: { declared.contains(String($0)) }), line.dropFirst(indent).first?.isLetter == true {
                found.append((Member(type: type, name: name), lines.joined(separator: "\n")))
                let word = String(words[keyword] == "init" ? "init" : words.dropFirst(keyword + 1).first ?? "")
                if indent == 0 { (type, name) = (word, "") } else { name = word }
                lines = []
            }
            lines.append(line)
        }
        return found + [(Member(type: type, name: name), lines.joined(separator: "\n"))]
    }
}

/// The names in a source.
struct SourceTokens {
    private(set) var all: Set<String> = []
    /// What stands before the dots of each name: a name, that of a function or type whose call it is, or nothing.
    private(set) var receivers: [String: Set<String>] = [:]

    init(_ source: String) {
        var (word, last, receiver): ([UInt8], String, String?) = ([], "", nil)
        var callees: [String] = []
        for byte in Array(source.utf8) + [0x20] {
            if byte == 0x5F || (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) {
                word.append(byte)
                continue
            }
            if !word.isEmpty {
                last = String(decoding: word, as: UTF8.self)
                all.insert(last)
                if let receiver { receivers[last, default: []].insert(receiver) }
                word = []
            }
            receiver = byte == 0x2E ? last : nil
            switch byte {
            case 0x28: callees.append(last)
            case 0x29: last = callees.popLast() ?? ""
            default: last = ""
            }
        }
    }
}
