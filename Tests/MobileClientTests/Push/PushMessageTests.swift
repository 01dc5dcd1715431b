import Foundation
import Testing

@testable import MobileClient

@Suite struct PushMessageTests {
    private static let account = "0195f3a0-1b2c-7d3e-8f40-5162738495a6"

    private static let expected: [String: PushMessage.Kind] = [
        "job_completed.json": .job(.init(id: "job-1", isCompleted: true, templateName: "Oil Painting", reason: nil)),
        "job_completed.plain.json": .job(.init(id: "job-1", isCompleted: true, templateName: "Oil Painting", reason: nil)),
        "job_completed.resend.json": .job(.init(id: "job-1", isCompleted: true, templateName: "Oil Painting", reason: nil)),
        "job_failed.json": .job(.init(id: "job-1", isCompleted: false, templateName: nil, reason: "The picture could not be read")),
        "sign_in.true.json": .ekyc(.init(event: .signIn, sessionID: PushSamples.session, claimedSuccess: true)),
        "sign_in.true.resend.json": .ekyc(.init(event: .signIn, sessionID: PushSamples.session, claimedSuccess: true)),
        "sign_in.false.json": .ekyc(.init(event: .signIn, sessionID: PushSamples.session, claimedSuccess: false)),
        "sign_up.true.json": .ekyc(.init(event: .signUp, sessionID: PushSamples.session, claimedSuccess: true)),
        "sign_up.false.json": .ekyc(.init(event: .signUp, sessionID: PushSamples.session, claimedSuccess: false)),
        "new_photos.json": .newPhotos(eventID: "42"),
        "chat_message.json": .chatMessage(
            .init(conversationID: "c-9", senderID: "u-5", messageID: "m-77", preview: "Hi \"there\" 👋")),
        "chat_message.sensitive.json": .chatMessage(
            .init(conversationID: "c-9", senderID: "u-5", messageID: "m-78", preview: "New message")),
        "invitation.event.json": .invitation(topic: "event:42"),
        "invitation.conversation.json": .invitation(topic: "conversation:c-9"),
        "account_alert.email_changed.json": .accountAlert(.emailChanged),
        "account_alert.face_changed.json": .accountAlert(.faceChanged),
        "account_alert.new_sign_in.json": .accountAlert(.newSignIn),
        "account_alert.recovery_cancelled.json": .accountAlert(.recoveryCancelled),
        "account_alert.recovery_completed.json": .accountAlert(.recoveryCompleted),
        "account_alert.recovery_started.json": .accountAlert(.recoveryStarted),
        "sign_in_confirmation.json": .signInConfirmation(sessionID: PushSamples.session),
        "possession_check.json": .possessionCheck(.init(handOverID: PushSamples.session, nonce: "Zm9vYmFy")),
        "possession_check.fid.json": .possessionCheck(.init(handOverID: PushSamples.session, nonce: "Zm9vYmFy")),
        "custom.json": .app(.init(kind: "order.shipped", notificationID: account, parameters: ["order": "7"])),
        "custom.data.json": .app(.init(kind: "sync", notificationID: account, parameters: ["table": "menus"])),
    ]

    @Test func `every message of the notifier is read`() throws {
        let payloads = try PushSamples.fixtures()
        #expect(Set(payloads.keys) == Set(Self.expected.keys))
        for (name, payload) in payloads {
            let message = PushMessage(payload)
            #expect(message.kind == Self.expected[name], "\(name)")
            #expect(message.identifier == payload.identifier && message.identifier != nil, "\(name)")
            #expect(message.hasAlert == !(name.hasPrefix("possession") || name == "custom.data.json"), "\(name)")
            #expect(message.isQuiet == name.hasPrefix("invitation"), "\(name)")
        }
        let chat = PushMessage(try #require(payloads["chat_message.json"]))
        #expect(chat.title == "Zoë" && chat.badge == 12 && !chat.hasSound && chat.conversationID == "c-9")
        let job = PushMessage(try #require(payloads["job_completed.json"]))
        #expect(job.badge == 3 && job.hasSound && job.category == "IMAGE_COMPLETE")
    }

    @Test func `Apple's userInfo is read like FCM's message`() {
        let message = PushMessage(PushSamples.signIn())
        #expect(message.kind == .ekyc(.init(event: .signIn, sessionID: PushSamples.session, claimedSuccess: true)))
        #expect(message.title == "eKYC Sign In" && message.body == "Text" && message.hasSound)
    }

    @Test func `Firebase's own members are no data`() {
        let payload = PushPayload(userInfo: [
            "aps": ["alert": "Hi"], "gcm.message_id": "1", "google.c.fid": "x", "kind": "t", "type": "t", "notification_id": Self.account,
            "a": "b",
        ])
        #expect(PushMessage(payload).kind == .app(.init(kind: "t", notificationID: Self.account, parameters: ["a": "b"])))
        #expect(payload.messageID == "1" && PushMessage(payload).body == "Hi")
    }

    @Test(
        arguments: [
            ("true", true), ("false", false), ("TRUE", true), ("1", true), ("0", false), ("yes", nil), ("", nil),
        ] as [(String, Bool?)])
    func `an outcome is read as the text that it is`(text: String, expected: Bool?) {
        guard case .ekyc(let result) = PushMessage(PushSamples.signIn(success: text)).kind else {
            Issue.record("no eKYC push")
            return
        }
        #expect(result.claimedSuccess == expected)
    }

    @Test func `the true number and the true flag are flags as well`() {
        #expect(PushPayload.Value.bool(true).flag == true && PushPayload.Value.number(0).flag == false)
        #expect(PushPayload.Value.number(2).flag == nil && PushPayload.Value.array([]).flag == nil)
    }

    @Test func `a badge without anything else is a kind of its own`() {
        let message = PushMessage(PushPayload(userInfo: ["aps": ["badge": 4]]))
        #expect(message.kind == .badge && message.badge == 4 && !message.hasAlert)
    }

    @Test(arguments: [-1, 1_000_001]) func `a badge that is no count is left out`(badge: Int) {
        #expect(PushMessage(PushPayload(userInfo: ["aps": ["badge": badge]])).badge == nil)
    }

    @Test func `an unknown kind keeps its values`() {
        let payload = PushPayload(userInfo: ["aps": ["alert": ["title": "T"]], "kind": "poll_opened", "poll": ["id": 7]], identifier: "p")
        let message = PushMessage(payload)
        #expect(message.kind == .unknown && message.title == "T" && message.identifier == "p")
        #expect(message.payload.values["kind"] == .string("poll_opened"))
        #expect(message.payload.values["poll"]?["id"] == .number(7))
    }

    @Test func `an alert of an unknown name is an alert`() {
        let payload = PushPayload(data: ["kind": "account_alert", "alert": "password_leaked"])
        #expect(PushMessage(payload).kind == .accountAlert(.init(rawValue: "password_leaked")))
    }

    @Test(arguments: [
        "", "..", "../../users/me", "a/b", "a b", "a%2fb", "a\u{0}", "ä", String(repeating: "a", count: 129), "1?x=y", "a#b",
    ])
    func `a text that is no id makes no kind`(id: String) {
        #expect(PushMessage(PushSamples.jobCompleted(id)).kind == .unknown)
        #expect(PushMessage(PushSamples.signIn(id)).kind == .unknown)
        #expect(PushMessage(PushSamples.chat(id)).kind == .unknown)
        #expect(PushMessage(PushPayload(data: ["kind": "invitation", "topic": "event:\(id)"])).kind == .unknown)
        #expect(PushMessage(PushPayload(data: ["kind": "x", "notification_id": id])).kind == .unknown)
        #expect(PushMessage(PushPayload(data: ["kind": "possession_check", "handover_id": id, "nonce": "n"])).kind == .unknown)
    }

    @Test func `the message's id is what is between the colons of the identifier`() {
        func id(_ identifier: String?) -> String? {
            let payload = PushPayload(data: ["kind": "chat_message", "conversationId": "c", "senderId": "u"], identifier: identifier)
            guard case .chatMessage(let message) = PushMessage(payload).kind else { return "no message" }
            return message.messageID
        }
        #expect(id("chat:m.1_-:abc") == "m.1_-")
        #expect(id("chat::abc") == nil && id("conversation:c") == nil && id(nil) == nil && id("chat:a/b:c") == nil)
        #expect(id("chat:\(String(repeating: "a", count: 49)):c") == nil)
    }
}
