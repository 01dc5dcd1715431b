import Foundation
import Push
import Testing
import WireFormat

/// One event with every field set, and the fixture with its bytes.
///
/// The fixtures are the contract between versions of the services that run side by side: changing one changes the wire format, and
/// the next version must still be able to decode an event that is already on a stream.
enum GoldenEvents {
    static let first = UUID(uuidString: "0195f3a0-1b2c-7d3e-8f40-5162738495a6")!
    static let second = UUID(uuidString: "0195f3a0-1b2c-7d3e-8f40-5162738495a7")!
    static let third = UUID(uuidString: "0195f3a0-1b2c-7d3e-8f40-5162738495a8")!
    static let time = Date(timeIntervalSince1970: 1_761_559_200.125)

    static let ekycRequested = EkycRequested(sessionID: first, event: .signUp, lane: .new)
    static let ekycCompleted = EkycCompleted(sessionID: first, event: .signIn, succeeded: false, reason: .noMatch)
    static let mailRequested = MailRequested(kind: .verificationCode, subjectID: first)
    static let imageRequested = ImageRequested(jobID: first)
    static let photoUploaded = PhotoUploaded(photoID: first, topic: "event:42")
    static let imageProgress = ImageProgress(jobID: first, state: .processing, percent: 40)
    static let imageCompleted = ImageCompleted(jobID: first, status: .completed)
    static let userErased = UserErased(erasureID: first)
    static let notificationRequested = NotificationRequested(
        notificationID: first, dedupeKey: "chat:\(second.wireString):m-1",
        content: ChatMessagePush(
            conversation: TopicName("conversation:c-9")!, topicID: second, messageID: "m-1", senderID: third,
            senderName: SealedText(.chatSenderName, bytes: [1, 2]), text: SealedText(.chatPreview, bytes: [3, 4, 5])
        ).content,
        recipient: .topic("conversation:c-9"), lane: .urgent, exceptUserID: third, exceptInstallID: second, expiresAt: time)
    static let notificationAddressed = NotificationAddressed(notificationID: first, pageID: second, count: 500, lane: .bulk)
    static let notificationSettled = NotificationSettled(
        notificationID: first,
        outcomes: [
            SettledDelivery(
                deliveryID: second, installationID: third, outcome: .dead, code: "UNREGISTERED", sentAt: time),
            SettledDelivery(deliveryID: third, installationID: second, outcome: .accepted),
        ], acceptedCount: 498)

    /// The file of a fixture.
    static func file(_ name: String) -> URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Fixtures/\(name).json")
    }

    /// The bytes of a fixture, without the newline at its end.
    static func fixture(_ name: String) throws -> [UInt8] {
        var bytes = [UInt8](try Data(contentsOf: file(name)))
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        return bytes
    }
}
