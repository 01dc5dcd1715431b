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

    @Test func `documents were found`() {
        #expect(Self.documents.count > 10)
    }
}
