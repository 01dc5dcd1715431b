import Foundation
import Push
import Testing
import WireFormat

/// Bodies are encoded by this module, and other programs write them with libraries of their own: both have to write the same.
@Suite("Encoding a body")
struct BodyEncodingTests {
    private func text(_ event: some Event) throws -> String { String(decoding: try Envelope(event).encoded().body, as: UTF8.self) }

    @Test(arguments: [
        "", "a", "é ✓ 👩‍👩‍👧", "\"\\/\u{8}\u{c}\n\r\t\u{1}\u{1f}\u{7f}", String(repeating: "long ", count: 500),
    ])
    func `agrees with Foundation on a text`(text: String) throws {
        let event = NotificationRequested(
            notificationID: UUID(), dedupeKey: text, content: JobFailedPush(jobID: UUID(), reason: text).content,
            recipient: NotificationRecipient(type: .user, id: "u\(text.prefix(9))"), lane: .bulk,
            expiresAt: Date(millisecondsSince1970: 1_761_559_200_125))
        let foundation = JSONEncoder()
        foundation.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let expected = String(decoding: try foundation.encode(try #require(FoundationRequest(event))), as: UTF8.self)
        #expect(try self.text(event) == expected)
    }

    @Test func `leaves out what is nil`() throws {
        let id = try #require(UUID(wireString: "0195f3a0-1b2c-7d3e-8f40-5162738495a6"))
        let completed = EkycCompleted(sessionID: id, event: .signIn, succeeded: true)
        #expect(try text(completed) == #"{"event":"sign_in","session_id":"0195f3a0-1b2c-7d3e-8f40-5162738495a6","succeeded":true}"#)
        let settled = NotificationSettled(notificationID: id, outcomes: [], acceptedCount: 7)
        #expect(try text(settled) == #"{"accepted_count":7,"notification_id":"0195f3a0-1b2c-7d3e-8f40-5162738495a6","outcomes":[]}"#)
    }
}
