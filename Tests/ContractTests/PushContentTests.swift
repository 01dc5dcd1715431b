import Foundation
import Push
import Testing
import WireFormat

/// The content of each kind as token-registry stores it and notifier reads it, perhaps a version later.
@Suite("Contents of pushes keep their bytes")
struct PushContentTests {
    private static let (first, second, third) = (GoldenEvents.first, GoldenEvents.second, GoldenEvents.third)
    private static let topic = TopicName("event:42")!

    static let all: [(kind: String, content: PushContent, json: String)] = [
        (
            "job_completed",
            JobCompletedPush(jobID: first, templateName: "Oil", thumbnailKey: "images/1/t.jpg").content,
            #"{"job_id":"0195f3a0-1b2c-7d3e-8f40-5162738495a6","template_name":"Oil","thumbnail":"images/1/t.jpg"}"#
        ),
        (
            "job_failed",
            JobFailedPush(jobID: first, reason: "Too dark").content,
            #"{"job_id":"0195f3a0-1b2c-7d3e-8f40-5162738495a6","reason":"Too dark"}"#
        ),
        (
            "sign_up",
            SignUpPush(sessionID: first, userID: second, succeeded: true).content,
            #"{"session_id":"0195f3a0-1b2c-7d3e-8f40-5162738495a6","success":true,"user_id":"0195f3a0-1b2c-7d3e-8f40-5162738495a7"}"#
        ),
        (
            "sign_in",
            SignInPush(sessionID: first, userID: second, succeeded: false).content,
            #"{"session_id":"0195f3a0-1b2c-7d3e-8f40-5162738495a6","success":false,"user_id":"0195f3a0-1b2c-7d3e-8f40-5162738495a7"}"#
        ),
        (
            "new_photos",
            NewPhotosPush(topic: topic, topicID: first, senderID: second, thumbnailKey: nil).content,
            #"{"sender_id":"0195f3a0-1b2c-7d3e-8f40-5162738495a7","topic":"event:42","topic_id":"0195f3a0-1b2c-7d3e-8f40-5162738495a6"}"#
        ),
        (
            "chat_message",
            ChatMessagePush(
                conversation: TopicName("conversation:c")!, topicID: first, messageID: "m", senderID: second, senderName: nil,
                text: SealedText(.chatPreview, bytes: [1])
            ).content,
            #"{"conversation":"conversation:c","message_id":"m","sender_id":"0195f3a0-1b2c-7d3e-8f40-5162738495a7","#
                + #""text":{"sealed":"AQ","use":"chat_preview"},"topic_id":"0195f3a0-1b2c-7d3e-8f40-5162738495a6"}"#
        ),
        (
            "invitation",
            InvitationPush(topic: topic, topicID: first).content,
            #"{"topic":"event:42","topic_id":"0195f3a0-1b2c-7d3e-8f40-5162738495a6"}"#
        ),
        (
            "account_alert",
            AccountAlertPush(.newSignIn, of: first).content,
            #"{"alert":"new_sign_in","user_id":"0195f3a0-1b2c-7d3e-8f40-5162738495a6"}"#
        ),
        (
            "sign_in_confirmation",
            SignInConfirmationPush(sessionID: first, userID: second).content,
            #"{"session_id":"0195f3a0-1b2c-7d3e-8f40-5162738495a6","user_id":"0195f3a0-1b2c-7d3e-8f40-5162738495a7"}"#
        ),
        (
            "possession_check",
            PossessionCheckPush(handOverID: first, nonce: SealedText(.possessionNonce, bytes: [2])).content,
            #"{"handover_id":"0195f3a0-1b2c-7d3e-8f40-5162738495a6","nonce":{"sealed":"Ag","use":"possession_nonce"}}"#
        ),
        (
            "custom",
            CustomPush(app: SealedText(.appContent, bytes: [3]), topicID: first, hasPicture: true).content,
            #"{"app":{"sealed":"Aw","use":"app_content"},"has_picture":true,"topic_id":"0195f3a0-1b2c-7d3e-8f40-5162738495a6"}"#
        ),
    ]

    @Test func `the JSON of every kind is this, and is read back`() throws {
        #expect(Self.all.map(\.kind) == NotificationKind.allCases.map(\.rawValue))
        for (kind, content, json) in Self.all {
            #expect(content.kind.rawValue == kind)
            #expect(String(decoding: content.encoded(), as: UTF8.self) == json)
            #expect(try PushContent(content.kind, decoding: Array(json.utf8)) == content)
            let extended = json.dropLast() + #","a_later_member":{"nested":[1,null]}}"#
            #expect(try PushContent(content.kind, decoding: Array(extended.utf8)) == content)
        }
    }

    @Test func `a member that is missing is named, and its value is not`() {
        let json = Array(#"{"job_id":"secret","reason":"r"}"#.utf8)
        #expect { try PushContent(.jobFailed, decoding: json) } throws: { error in
            (error as? WireFormatError)?.message == "JobFailedPush: field job_id is not a UUID"
        }
        #expect(throws: WireFormatError.self) { try PushContent(.jobFailed, decoding: Array("{".utf8)) }
    }
}
