import Foundation
import TestSupport
import Testing

/// Replays the inputs that fuzzing found (`make fuzz`): those that reach all code that is known to be reachable, and those that once
/// failed.
@Suite struct CorpusTests {
    private static let folder = PackageRoot.path + "/Tests/Corpus"

    private static func files(of target: String) throws -> [String: [UInt8]] {
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(target)")
        return try Dictionary(
            uniqueKeysWithValues: names.map { ($0, [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(target)/\($0)")))) })
    }

    @Test(arguments: FuzzTarget.all)
    func `every input of the corpus passes its check`(target: FuzzTarget) throws {
        let files = try Self.files(of: target.name)
        #expect(files.count >= 3)
        for (name, input) in files.sorted(by: { $0.key < $1.key }) {
            #expect(throws: Never.self, "Tests/Corpus/\(target.name)/\(name)") { try target.check(input) }
        }
    }

    @Test func `the corpus has a folder for each target and no other, and stays small`() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Self.folder)
        #expect(Set(folders) == Set(FuzzTarget.all.map(\.name)))
        let sizes = try folders.flatMap { try Self.files(of: $0).values.map(\.count) }
        #expect(sizes.count <= 300)
        #expect(sizes.reduce(0, +) <= 300_000)
    }

    @Test func `the pieces of a body together are the body`() {
        let body = Array("the body of a request".utf8)
        for lengths in [[1, 1, 1], [3, 1, 256], [256, 256, 256]] {
            let chunks = Cuts(lengths: lengths).chunks(of: body)
            #expect(Array(chunks.joined()) == body)
            #expect(chunks.allSatisfy { !$0.isEmpty })
        }
    }
}

extension FuzzTarget: CustomTestStringConvertible {
    var testDescription: String { name }
}
