import Foundation
import Testing

/// A piece of Swift that a document shows.
struct SwiftSnippet: Sendable {
    /// The document's name and the number of the block in it.
    let name: String
    let code: String

    /// What a block may use without saying where it is from.
    private static let given = """
        client: HeliographClient, folder: URL, email: String, code: String, photos: [EKYCClient.Photo],
        signUpPhotos: EKYCClient.SignUpPhotos, picture: Data, userID: UUID, conversation: String, event: String
        """

    /// The blocks of a document that are marked as Swift.
    static func blocks(of document: URL) throws -> [SwiftSnippet] {
        let text = try String(contentsOf: document, encoding: .utf8)
        let name = document.deletingPathExtension().lastPathComponent.replacing("-", with: "_")
        return text.matches(of: /```swift\n(.*?)\n```/.dotMatchesNewlines()).enumerated().map { index, match in
            SwiftSnippet(name: "\(name)_\(index + 1)", code: String(match.output.1))
        }
    }

    /// The block as a file of a module: declarations in a type of their own, so that two blocks may declare the same, and statements in a
    /// function.
    var file: String {
        let lines = code.split(separator: "\n", omittingEmptySubsequences: false).filter { !$0.hasPrefix("import ") }
        let begin = lines.first { !$0.isEmpty && !$0.hasPrefix("//") } ?? ""
        let isDeclaration = begin.prefixMatch(of: /(?:@|(?:final class|class|struct|enum|actor|func|extension|protocol) )/) != nil
        let frame = isDeclaration ? "enum \(name)" : "@MainActor func \(name)(\(Self.given)) async throws"
        return """
            import Foundation
            import MobileClient
            import SwiftUI
            import UIKit
            import UserNotifications
            \(frame) {
            \(lines.joined(separator: "\n"))
            }

            """
    }
}
