import Foundation

/// The costly steps that are known: blocks of lines, each with comments above that give the reason and the bound.
struct PlanExceptions {
    private let file: String
    private var blocks: [(comments: [String], lines: [String])] = []

    init(file: String) throws {
        self.file = file
        for block in try String(contentsOfFile: file, encoding: .utf8).components(separatedBy: "\n\n") {
            let lines = block.split(separator: "\n").map(String.init)
            blocks.append((lines.filter { $0.hasPrefix("#") }, lines.filter { !$0.hasPrefix("#") }))
        }
    }

    var lines: Set<String> { Set(blocks.flatMap(\.lines)) }
    /// The lines of blocks without a comment.
    var unexplained: [String] { blocks.filter(\.comments.isEmpty).flatMap(\.lines) }

    /// Writes the blocks with the lines that were found, and the new lines as a block without a comment.
    func write(_ found: Set<String>) throws {
        let kept = blocks.filter { !$0.comments.isEmpty }.map { ($0.comments, $0.lines.filter(found.contains)) }.filter { !$0.1.isEmpty }
        let new = found.subtracting(kept.flatMap(\.1)).sorted()
        let texts = kept.map { ($0.0 + $0.1).joined(separator: "\n") } + (new.isEmpty ? [] : [new.joined(separator: "\n")])
        try (texts.joined(separator: "\n\n") + "\n").write(toFile: file, atomically: true, encoding: .utf8)
    }
}
