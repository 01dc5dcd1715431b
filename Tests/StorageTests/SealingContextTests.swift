import Foundation
import Storage
import TestSupport
import Testing

struct SealingContextTests {
    /// The context of each column and parameter in the row of an id.
    private static func contexts(of id: UUID) -> [[UInt8]] {
        [
            SealingContext.email(accountID: id), SealingContext.subject(userID: id), SealingContext.displayName(userID: id),
            SealingContext.chatPreview(notificationID: id), SealingContext.chatSenderName(notificationID: id),
            SealingContext.possessionNonce(notificationID: id), SealingContext.appContent(notificationID: id),
            SealingContext.report(id: id), SealingContext.pushInstall(installationKey: Array(id.uuidString.utf8)),
            SealingContext.faceTemplate(userID: id),
        ]
    }

    @Test func `each context is that of one column in one row`() throws {
        let contexts = Self.contexts(of: UUID()) + Self.contexts(of: UUID())
        #expect(Set(contexts).count == contexts.count)
        let source = try String(contentsOfFile: PackageRoot.file("Shared/Storage/Support/SealingContext.swift"), encoding: .utf8)
        #expect(source.split(separator: ") -> [UInt8] {").count - 1 == contexts.count / 2, "a context is missing in this test")
    }
}
