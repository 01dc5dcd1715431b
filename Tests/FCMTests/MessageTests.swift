import FoundationEssentials
import Push
import TestSupport
import Testing
import WireFormat

@testable import FCM

@Suite struct MessageTests {
    static let now = Date(timeIntervalSince1970: 1_761_559_200)

    static func message(_ content: PushContent, expiresIn seconds: Double = 60) throws -> FCMMessage {
        try FCMMessage(content, .plain, expiresAt: now.addingTimeInterval(seconds))
    }

    static func json(_ message: FCMMessage, badge: Int? = nil) -> String {
        String(decoding: message.request(to: .token("t"), badge: badge, at: now), as: UTF8.self)
    }

    static func chat(_ text: String, id: String = "m") -> PushContent {
        guard case .chatMessage(var message) = PushContent.sample(.chatMessage, topic: "conversation:c", text: text) else {
            preconditionFailure("the sample is of another kind")
        }
        message.messageID = id
        message.senderName = SealedText(.chatSenderName, bytes: Array("n".utf8))
        return message.content
    }

    @Test func `a resend replaces the notification that is shown`() throws {
        let session = UUID()
        let content = SignInPush(sessionID: session, userID: UUID(), succeeded: true).content
        let first = try Self.message(content)
        let second = try Self.message(content)
        let id = "ekyc:\(session.wireString)"
        #expect(first.collapseID == id && second.collapseID == id)
        #expect(Self.json(first).contains(#""apns-collapse-id":"\#(id)""#))
        #expect(Self.json(first).contains(#""tag":"\#(id)""#))
    }

    @Test func `an invitation makes no sound, lights no screen and shows no text by the topic's owner`() throws {
        let json = Self.json(try Self.message(.sample(.invitation, topic: "event:You-have-won")))
        #expect(json.contains(#""priority":"NORMAL""#) && json.contains(#""apns-priority":"5""#) && !json.contains("sound"))
        #expect(json.contains(#""aps":{"interruption-level":"passive"}"#))
        #expect(json.contains(#""notification":{"body":"You have been invited to an event.","title":"Invitation"}"#))
    }

    @Test func `a failed and then a completed job replace each other`() throws {
        let job = UUID()
        let failed = try Self.message(.sample(.jobFailed, jobID: job))
        #expect(try failed.collapseID == Self.message(.sample(.jobCompleted, jobID: job)).collapseID)
    }

    @Test func `a long subject becomes a short unique id`() throws {
        let long = String(repeating: "x", count: 200)
        let first = try Self.message(Self.chat("a", id: long + "1")).collapseID
        let second = try Self.message(Self.chat("a", id: long + "2")).collapseID
        #expect(first.utf8.count <= 64)
        #expect(first != second)
    }

    @Test func `a preview has at most 100 user-perceived characters`() throws {
        let flags = String(repeating: "🇫🇮", count: 100)
        #expect(try Self.message(Self.chat(flags)).body == flags)
        let cut = try Self.message(Self.chat(flags + "x")).body
        #expect(cut.count == 100)
        #expect(cut.hasSuffix("🇫🇮…"))
    }

    @Test func `a preview of characters with many bytes is cut between two of them`() throws {
        let family = "👨‍👩‍👧‍👦"
        let cut = try Self.message(Self.chat(String(repeating: family, count: 100))).body
        #expect(cut.utf8.count <= 800)
        #expect(cut.dropLast().allSatisfy { String($0) == family })
    }

    @Test(arguments: [
        "http://cdn.example.org/a.jpg", "http://localhost.example.org/a.jpg", "https://user@cdn.example.org/a.jpg",
        "https:///a.jpg", "ftp://x/a.jpg",
        "https://cdn.example.org/a b.jpg", "https://cdn.example.org/" + String(repeating: "a", count: 700),
    ])
    func `a push is sent without a picture that no phone would load`(url: String) throws {
        let message = try Self.message(.sample(.newPhotos, topic: "event:1", thumbnailKey: url))
        #expect(message.image == nil)
        #expect(!Self.json(message).contains("image"))
        #expect(message.data == ["event_id": "1", "action": "new_photos", "kind": "new_photos"])
    }

    @Test(arguments: ["http://localhost:8080/media/a.jpg", "http://127.0.0.1/media/a.jpg", "https://api.example.org/media/a.jpg"])
    func `a picture of this machine may be plain http, for a simulator`(url: String) throws {
        let message = try Self.message(.sample(.jobCompleted, thumbnailKey: url))
        #expect(message.image == url)
        #expect(Self.json(message).contains(#""fcm_options":{"image":"\#(url)"}"#))
        #expect(Self.json(message).contains(#""mutable-content":1"#))
    }

    @Test func `an expired message has a time to live of zero`() throws {
        #expect(try Self.json(Self.message(Self.chat("a"), expiresIn: -5)).contains(#""ttl":"0s""#))
    }

    @Test func `a message waits four weeks at most`() throws {
        #expect(Self.json(try Self.message(Self.chat("a"), expiresIn: 1e9)).contains(#""ttl":"2419200s""#))
    }

    @Test func `a message over FCM's limit is refused`() {
        let error = #expect(throws: FCMError.self) {
            try Self.message(Self.app(AppContent(kind: "sync", data: ["a": String(repeating: "i", count: 4096)])))
        }
        #expect(error?.code == .invalidMessage)
    }

    @Test func `texts are cut between characters until the message fits, and data is not cut`() throws {
        // Control characters take six bytes each in the JSON that reaches a phone.
        let body = String(repeating: "\u{1}", count: 400)
        let data = String(repeating: "i", count: 3000)
        let message = try Self.message(Self.app(AppContent(kind: "news", title: "t", body: body, data: ["a": data])))
        #expect(message.data["a"] == data)
        #expect(message.body.count < 200 && message.body.hasSuffix("…"))
    }

    @Test func `an app's content that cannot be read is refused`() {
        let app = SealedText(.appContent, bytes: Array("{}".utf8))
        let error = #expect(throws: FCMError.self) {
            try Self.message(CustomPush(app: app, topicID: nil, hasPicture: false).content)
        }
        #expect(error?.code == .invalidMessage)
    }

    /// The content of an app's own server.
    private static func app(_ content: AppContent) throws -> PushContent {
        let json = SealedText(.appContent, bytes: [UInt8](try JSONEncoder().encode(content)))
        return CustomPush(app: json, topicID: nil, hasPicture: false).content
    }

    @Test func `the values of each device are inserted into one rendering`() throws {
        let message = try Self.message(Self.chat("a"))
        let first = String(decoding: message.request(to: .token("t-1"), badge: 1, at: Self.now), as: UTF8.self)
        let second = String(
            decoding: message.request(to: .fid("f-2"), badge: 20, at: Self.now.addingTimeInterval(9.5)), as: UTF8.self)
        #expect(first.hasSuffix(#","token":"t-1"}}"#) && first.contains(#""aps":{"badge":1,"thread-id""#))
        #expect(first.contains(#""ttl":"60s""#) && !first.contains(#""fid""#))
        #expect(second.contains(#","fid":"f-2","notification""#) && !second.contains(#""token""#))
        #expect(second.contains(#""aps":{"badge":20,"#) && second.contains(#""ttl":"51s""#))
        #expect(!Self.json(message).contains("badge"))
    }

    @Test func `a text may contain all characters that JSON must escape`() throws {
        let text = "\"\\/\u{8}\t\n\u{c}\r\u{1}\u{1f}\u{7f}ä👋"
        let object = try JSONDecoder().decode(Sent.self, from: Data(Self.json(try Self.message(Self.chat(text))).utf8))
        #expect(object.message.data["message"] == text && object.message.notification["body"] == text)
    }

    private struct Sent: Decodable {
        struct Message: Decodable { let data, notification: [String: String] }
        let message: Message
    }

    @Test func `long texts of other services never make a message too big`() throws {
        let long = String(repeating: "ä", count: 10_000)
        for kind in NotificationKind.allCases { _ = try Self.message(.sample(kind, text: long)) }
    }
}
