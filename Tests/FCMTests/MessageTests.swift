import FoundationEssentials
import Testing

@testable import FCM

@Suite struct MessageTests {
    static let now = Date(timeIntervalSince1970: 1_761_559_200)

    static func message(_ content: PushContent, expiresIn seconds: Double = 60) throws -> FCMMessage {
        try FCMMessage(content, to: .token("t"), expiresAt: now.addingTimeInterval(seconds), now: now)
    }

    static func chat(_ text: String, id: String = "m", conversation: String = "c") -> PushContent {
        .chatMessage(
            conversationID: conversation, messageID: id, senderID: "s", senderName: "n", text: text, isSensitive: false,
            badge: nil)
    }

    @Test func `sending again replaces what is shown`() throws {
        let content = PushContent.signIn(sessionID: "s-1", userID: "u", succeeded: true)
        let first = try Self.message(content)
        let second = try Self.message(content)
        #expect(first.apns.headers["apns-collapse-id"] == "ekyc:s-1")
        #expect(second.apns.headers["apns-collapse-id"] == "ekyc:s-1")
        #expect(first.android.notification.tag == "ekyc:s-1")
    }

    @Test func `a failed and then a completed job replace each other`() throws {
        let failed = try Self.message(.jobFailed(jobID: "j", reason: "r", badge: nil))
        let completed = try Self.message(.jobCompleted(jobID: "j", templateName: "t", thumbnailURL: nil, badge: nil))
        #expect(failed.apns.headers["apns-collapse-id"] == completed.apns.headers["apns-collapse-id"])
    }

    @Test func `a long subject becomes a short id that is still its own`() throws {
        let long = String(repeating: "x", count: 200)
        let first = try #require(try Self.message(Self.chat("a", id: long + "1")).apns.headers["apns-collapse-id"])
        let second = try #require(try Self.message(Self.chat("a", id: long + "2")).apns.headers["apns-collapse-id"])
        #expect(first.utf8.count <= 64)
        #expect(first != second)
    }

    @Test func `a preview has at most 100 characters as a reader counts them`() throws {
        let flags = String(repeating: "🇫🇮", count: 100)
        #expect(try Self.message(Self.chat(flags)).notification.body == flags)
        let cut = try Self.message(Self.chat(flags + "x")).notification.body
        #expect(cut.count == 100)
        #expect(cut.hasSuffix("🇫🇮…"))
    }

    @Test func `a preview of huge characters is cut between two of them`() throws {
        let family = "👨‍👩‍👧‍👦"
        let cut = try Self.message(Self.chat(String(repeating: family, count: 100))).notification.body
        #expect(cut.utf8.count <= 800)
        #expect(cut.dropLast().allSatisfy { String($0) == family })
    }

    @Test(arguments: [
        "http://cdn.example.org/a.jpg", "http://localhost.example.org/a.jpg", "https://user@cdn.example.org/a.jpg",
        "https:///a.jpg", "ftp://x/a.jpg",
        "https://cdn.example.org/a b.jpg", "https://cdn.example.org/" + String(repeating: "a", count: 700),
    ])
    func `a picture no phone would load is left out and the push goes`(url: String) throws {
        let message = try Self.message(.newPhotos(eventID: "1", imageURL: url, badge: nil))
        #expect(message.apns.options == nil)
        #expect(message.android.notification.image == nil)
        #expect(message.data == ["event_id": "1", "action": "new_photos"])
    }

    @Test(arguments: ["http://localhost:8080/media/a.jpg", "http://127.0.0.1/media/a.jpg", "https://api.example.org/media/a.jpg"])
    func `a picture of this machine may be plain http, for a simulator`(url: String) throws {
        let message = try Self.message(.jobCompleted(jobID: "1", templateName: "T", thumbnailURL: url, badge: nil))
        #expect(message.apns.options?.image == url && message.apns.payload.aps.mutableContent == 1)
    }

    @Test func `what has no time left does not wait for the phone`() throws {
        let message = try Self.message(Self.chat("a"), expiresIn: -5)
        #expect(message.android.ttl == "0s")
        #expect(message.apns.headers["apns-expiration"] == "1761559200")
    }

    @Test func `a message waits four weeks at most`() throws {
        #expect(try Self.message(Self.chat("a"), expiresIn: 1e9).android.ttl == "2419200s")
    }

    @Test func `a message over FCM's limit is refused`() {
        let id = String(repeating: "i", count: 4096)
        let error = #expect(throws: FCMError.self) {
            try Self.message(.jobFailed(jobID: id, reason: "r", badge: nil))
        }
        #expect(error?.code == .invalidMessage)
    }

    @Test func `long words from elsewhere never make a message too big`() throws {
        let long = String(repeating: "ä", count: 10_000)
        _ = try Self.message(.jobCompleted(jobID: "j", templateName: long, thumbnailURL: nil, badge: nil))
        _ = try Self.message(.jobFailed(jobID: "j", reason: long, badge: nil))
        _ = try Self.message(Self.chat(long))
    }

    @Test func `printing a target hides it`() {
        #expect("\(FCMTarget.token("secret"))" == "token")
        #expect("\(FCMTarget.fid("secret"))" == "fid")
    }
}
