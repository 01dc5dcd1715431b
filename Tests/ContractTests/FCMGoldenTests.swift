import FCM
import Foundation
import Testing
import WireFormat

/// The pushes as deployed apps read them: names, spelling, case and text are fixed (`docs/api/pushes.md`).
@Suite("Pushes")
struct FCMGoldenTests {
    struct Golden: Sendable, CustomTestStringConvertible {
        let name: String
        let content: PushContent
        var badge: Int?
        var isResend = false
        var target = FCMTarget.token("TOKEN")
        var testDescription: String { name }
    }

    static let thumbnail = "https://cdn.example.org/t/5f0c.jpg"
    static let session = "a1b2c3d4-e5f6-7890-abcd-ef1234567890"
    static let user = "0195f3a0-1b2c-7d3e-8f40-5162738495a6"

    static let all = [
        Golden(
            name: "job_completed",
            content: .jobCompleted(jobID: "job-1", templateName: "Oil Painting", thumbnailURL: thumbnail), badge: 3),
        Golden(
            name: "job_completed.plain",
            content: .jobCompleted(jobID: "job-1", templateName: "Oil Painting", thumbnailURL: nil), badge: 0),
        Golden(
            name: "job_failed",
            content: .jobFailed(jobID: "job-1", reason: "The picture could not be read"), badge: 1),
        Golden(name: "sign_up.true", content: .signUp(sessionID: session, userID: user, succeeded: true)),
        Golden(name: "sign_up.false", content: .signUp(sessionID: session, userID: user, succeeded: false)),
        Golden(name: "sign_in.true", content: .signIn(sessionID: session, userID: user, succeeded: true)),
        Golden(
            name: "sign_in.false", content: .signIn(sessionID: session, userID: user, succeeded: false),
            target: .fid("cFIDcFIDcFIDcFIDcFIDcF")),
        // A resend replaces a push that may have arrived, without a sound.
        Golden(
            name: "job_completed.resend",
            content: .jobCompleted(jobID: "job-1", templateName: "Oil Painting", thumbnailURL: thumbnail), badge: 3, isResend: true),
        Golden(
            name: "sign_in.true.resend", content: .signIn(sessionID: session, userID: user, succeeded: true), isResend: true),
        Golden(name: "new_photos", content: .newPhotos(eventID: "42", imageURL: thumbnail), badge: 7),
        Golden(
            name: "chat_message",
            content: .chatMessage(
                conversationID: "c-9", messageID: "m-77", senderID: "u-5", senderName: "Zoë", text: "Hi \"there\" 👋",
                isSensitive: false), badge: 12),
        Golden(
            name: "chat_message.sensitive",
            content: .chatMessage(
                conversationID: "c-9", messageID: "m-78", senderID: "u-5", senderName: "Zoë", text: "the secret",
                isSensitive: true), badge: 13),
        Golden(name: "invitation.event", content: .invitation(topic: "event:42")),
        Golden(name: "invitation.conversation", content: .invitation(topic: "conversation:c-9")),
        Golden(name: "account_alert.new_sign_in", content: .accountAlert(userID: user, alert: .newSignIn)),
        Golden(name: "account_alert.face_changed", content: .accountAlert(userID: user, alert: .faceChanged)),
        Golden(name: "account_alert.recovery_started", content: .accountAlert(userID: user, alert: .recoveryStarted)),
        Golden(name: "account_alert.recovery_cancelled", content: .accountAlert(userID: user, alert: .recoveryCancelled)),
        Golden(name: "account_alert.recovery_completed", content: .accountAlert(userID: user, alert: .recoveryCompleted)),
        Golden(name: "account_alert.email_changed", content: .accountAlert(userID: user, alert: .emailChanged)),
        Golden(name: "possession_check", content: .possessionCheck(handOverID: session, nonce: "Zm9vYmFy")),
        Golden(
            name: "possession_check.fid", content: .possessionCheck(handOverID: session, nonce: "Zm9vYmFy"), isResend: true,
            target: .fid("cFIDcFIDcFIDcFIDcFIDcF")),
        Golden(
            name: "custom",
            content: .custom(
                AppContent(
                    kind: "order.shipped", title: "On its way", body: "Parcel 7 arrives tomorrow.", data: ["order": "7"],
                    image: thumbnail, sound: "chime.caf", thread: "orders", collapseKey: "shop:order-7"), notificationID: user),
            badge: 2),
        // Data only: the phone shows nothing, and no number.
        Golden(
            name: "custom.data", content: .custom(AppContent(kind: "sync", data: ["table": "menus"]), notificationID: user), badge: 2,
            target: .fid("cFIDcFIDcFIDcFIDcFIDcF")),
    ]

    static let sentAt = Date(timeIntervalSince1970: 1_761_559_200.5)

    static func body(_ golden: Golden) throws -> String {
        let message = try FCMMessage(golden.content, expiresAt: sentAt.addingTimeInterval(3600))
        return String(
            decoding: message.request(to: golden.target, badge: golden.badge, isResend: golden.isResend, at: sentAt), as: UTF8.self)
    }

    @Test(arguments: all)
    func `a push equals its golden fixture exactly`(golden: Golden) throws {
        let fixture = String(decoding: try GoldenEvents.fixture("fcm/\(golden.name)"), as: UTF8.self)
        #expect(try Self.body(golden) == Self.withoutLayout(fixture))
    }

    @Test(arguments: all)
    func `every value of the data is a string and no key is reserved`(golden: Golden) throws {
        let message = try FCMMessage(golden.content, expiresAt: Self.sentAt)
        for key in message.data.keys {
            #expect(!["from", "message_type", "notification"].contains(key))
            #expect(!key.hasPrefix("google") && !key.hasPrefix("gcm"))
        }
        let object = try JSONSerialization.jsonObject(with: Data(message.request(to: golden.target, at: Self.sentAt))) as? [String: Any]
        let data = (object?["message"] as? [String: Any])?["data"] as? [String: String]
        #expect(data == message.data)
    }

    /// Removes the line breaks and indents of a fixture.
    static func withoutLayout(_ json: String) -> String {
        var output = ""
        var isInString = false
        var isEscaped = false
        for character in json {
            if isInString {
                output.append(character)
                if isEscaped {
                    isEscaped = false
                } else if character == "\\" {
                    isEscaped = true
                } else if character == "\"" {
                    isInString = false
                }
            } else if !character.isWhitespace {
                output.append(character)
                isInString = character == "\""
            }
        }
        return output
    }
}
