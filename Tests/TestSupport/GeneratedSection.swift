import Foundation
import Synchronization

/// A section of a document that is made from the code.
public struct GeneratedSection: Sendable {
    private static let lock = Mutex(())

    private let path: String
    private let heading: String

    /// Names the section below `## heading` of a document.
    public init(_ heading: String, of document: String) {
        path = PackageRoot.path + "/" + document
        self.heading = "\n## \(heading)\n\n"
    }

    /// Returns whether the section is `text`. With `UPDATE_GOLDEN=1` the section becomes it.
    public func holds(_ text: String) throws -> Bool {
        try Self.lock.withLock { _ in
            let document = try String(contentsOfFile: path, encoding: .utf8)
            guard let start = document.range(of: heading)?.upperBound else { return false }
            let end = document.range(of: "\n## ", range: start..<document.endIndex)?.lowerBound ?? document.endIndex
            guard document[start..<end] != text else { return true }
            guard ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil else { return false }
            try document.replacingCharacters(in: start..<end, with: text).write(toFile: path, atomically: true, encoding: .utf8)
            return true
        }
    }
}
