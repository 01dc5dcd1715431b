import Accounts
import Foundation
import TestSupport
import Testing

@testable import Push

struct SealingContextTests {
    /// The context of each column in the row of an id.
    private static func contexts(of id: UUID) -> [[UInt8]] {
        [
            SealingContext.email(accountID: id), SealingContext.subject(userID: id), SealingContext.displayName(userID: id),
            SealingContext.report(id: id), PushInstall.sealingContext(installationKey: Array(id.uuidString.utf8)),
            SealingContext.faceTemplate(userID: id),
        ]
    }

    @Test func `each context is that of one column in one row`() throws {
        let (id, contexts) = (UUID(), Self.contexts(of: UUID()))
        let texts = SealedText.Use.allCases.map { SealedText.context($0, of: id) }
        let all = contexts + Self.contexts(of: id) + texts
        #expect(Set(all).count == all.count)
        let source = try String(contentsOfFile: PackageRoot.file("Shared/Accounts/Support/SealingContext.swift"), encoding: .utf8)
        // The context of installations is in a module below.
        #expect(source.split(separator: ") -> [UInt8] {").count == contexts.count, "a context is missing in this test")
    }
}
