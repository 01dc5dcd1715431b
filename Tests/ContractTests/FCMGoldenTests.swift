import FCM
import Foundation
import Push
import TestSupport
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
        var target = PushTarget.token("TOKEN")
        var testDescription: String { name }
    }

    static let job = UUID(uuidString: "0195f3a0-1b2c-7d3e-8f40-5162738495b1")!
    static let sender = UUID(uuidString: "0195f3a0-1b2c-7d3e-8f40-5162738495b2")!
    /// The fixtures have short names in place of two ids.
    static let names = [job: "job-1", sender: "u-5"]
    static let thumbnail = "https://cdn.example.org/t/5f0c.jpg"
    static let session = UUID(uuidString: "a1b2c3d4-e5f6-7890-abcd-ef1234567890")!
    static let user = UUID(uuidString: "0195f3a0-1b2c-7d3e-8f40-5162738495a6")!

    private static func completed(_ thumbnail: String?) -> PushContent {
        JobCompletedPush(jobID: job, templateName: "Oil Painting", thumbnailKey: thumbnail).content
    }

    private static func signUp(_ succeeded: Bool) -> PushContent {
        SignUpPush(sessionID: session, userID: user, succeeded: succeeded).content
    }

    private static func signIn(_ succeeded: Bool) -> PushContent {
        SignInPush(sessionID: session, userID: user, succeeded: succeeded).content
    }

    private static func message(_ id: String, _ text: String?) -> PushContent {
        ChatMessagePush(
            conversation: TopicName("conversation:c-9")!, topicID: UUID(), messageID: id, senderID: sender,
            senderName: plain("Zoë", .chatSenderName), text: text.map { plain($0, .chatPreview) }
        ).content
    }

    private static func invitation(_ topic: String) -> PushContent {
        InvitationPush(topic: TopicName(topic)!, topicID: UUID()).content
    }

    private static let check = PossessionCheckPush(handOverID: session, nonce: plain("Zm9vYmFy", .possessionNonce)).content

    private static func custom(_ content: AppContent) -> PushContent {
        let json = String(decoding: try! JSONEncoder().encode(content), as: UTF8.self)
        return CustomPush(app: plain(json, .appContent), topicID: nil, hasPicture: content.image != nil).content
    }

    /// A text that is not sealed.
    private static func plain(_ text: String, _ use: SealedText.Use) -> SealedText { SealedText(use, bytes: Array(text.utf8)) }

    static let all =
        [
            Golden(name: "job_completed", content: completed(thumbnail), badge: 3),
            Golden(name: "job_completed.plain", content: completed(nil), badge: 0),
            Golden(name: "job_failed", content: JobFailedPush(jobID: job, reason: "The picture could not be read").content, badge: 1),
            Golden(name: "sign_up.true", content: signUp(true)),
            Golden(name: "sign_up.false", content: signUp(false)),
            Golden(name: "sign_in.true", content: signIn(true)),
            Golden(name: "sign_in.false", content: signIn(false), target: .fid("cFIDcFIDcFIDcFIDcFIDcF")),
            // A resend replaces a push that may have arrived, without a sound.
            Golden(name: "job_completed.resend", content: completed(thumbnail), badge: 3, isResend: true),
            Golden(name: "sign_in.true.resend", content: signIn(true), isResend: true),
            Golden(
                name: "new_photos",
                content: NewPhotosPush(topic: TopicName("event:42")!, topicID: UUID(), senderID: sender, thumbnailKey: thumbnail).content,
                badge: 7),
            Golden(name: "chat_message", content: message("m-77", "Hi \"there\" 👋"), badge: 12),
            Golden(name: "chat_message.sensitive", content: message("m-78", nil), badge: 13),
            Golden(name: "invitation.event", content: invitation("event:42")),
            Golden(name: "invitation.conversation", content: invitation("conversation:c-9")),
            Golden(name: "sign_in_confirmation", content: SignInConfirmationPush(sessionID: session, userID: user).content),
            Golden(name: "possession_check", content: check),
            Golden(name: "possession_check.fid", content: check, isResend: true, target: .fid("cFIDcFIDcFIDcFIDcFIDcF")),
            Golden(
                name: "custom",
                content: custom(
                    AppContent(
                        kind: "order.shipped", title: "On its way", body: "Parcel 7 arrives tomorrow.", data: ["order": "7"],
                        image: thumbnail, sound: "chime.caf", thread: "orders", collapseKey: "shop:order-7")), badge: 2),
            // Data only: the phone shows nothing, and no number.
            Golden(
                name: "custom.data", content: custom(AppContent(kind: "sync", data: ["table": "menus"])), badge: 2,
                target: .fid("cFIDcFIDcFIDcFIDcFIDcF")),
        ] + AccountAlert.allCases.map { Golden(name: "account_alert.\($0.rawValue)", content: AccountAlertPush($0, of: user).content) }

    static let sentAt = Date(timeIntervalSince1970: 1_761_559_200.5)

    private static let sources = PushSources(
        notificationID: user, link: { $0 }, open: { String(decoding: $0.bytes, as: UTF8.self) })

    static func body(_ golden: Golden) throws -> String {
        let message = try FCMMessage(golden.content, sources, expiresAt: sentAt.addingTimeInterval(3600))
        let body = String(
            decoding: message.request(to: golden.target, badge: golden.badge, isResend: golden.isResend, at: sentAt), as: UTF8.self)
        return names.reduce(body) { $0.replacing($1.key.wireString, with: $1.value) }
    }

    @Test func `every kind has a golden fixture`() {
        #expect(Set(Self.all.map(\.content.kind)) == Set(NotificationKind.allCases))
    }

    /// Run with `UPDATE_GOLDEN=1` to write the fixture of a new push, and read it before you commit it. A fixture that exists is what
    /// released apps read, and stays.
    @Test(arguments: all)
    func `a push equals its golden fixture exactly`(golden: Golden) throws {
        let body = try Self.body(golden)
        let file = GoldenEvents.file("fcm/\(golden.name)")
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil, !FileManager.default.fileExists(atPath: file.path) {
            let push = try JSONSerialization.jsonObject(with: Data(body.utf8))
            let layout: JSONSerialization.WritingOptions = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            let text = String(decoding: try JSONSerialization.data(withJSONObject: push, options: layout), as: UTF8.self)
            try Data((text.replacing("\" : ", with: "\": ") + "\n").utf8).write(to: file)
        }
        let fixture = String(decoding: try GoldenEvents.fixture("fcm/\(golden.name)"), as: UTF8.self)
        #expect(body == Self.withoutLayout(fixture))
    }

    @Test(arguments: all)
    func `a push shows a picture exactly if its content says so`(golden: Golden) throws {
        #expect(try Self.body(golden).contains(#""image":"#) == golden.content.push.hasPicture)
    }

    @Test func `the page for apps has a row for each kind and each channel`() throws {
        let page = try String(contentsOfFile: PackageRoot.file("docs/api/pushes.md"), encoding: .utf8)
        for kind in NotificationKind.allCases {
            for name in [kind.rawValue, kind.type.channelID].compactMap({ $0 }) {
                #expect(page.contains("\n| `\(name)` | "), "\(name)")
            }
        }
    }

    @Test(arguments: all)
    func `every value of the data is a string and no key is reserved`(golden: Golden) throws {
        let message = try FCMMessage(golden.content, Self.sources, expiresAt: Self.sentAt)
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
