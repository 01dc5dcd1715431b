import FoundationEssentials
import Push
import TestSupport
import Testing
import WireFormat

@Suite struct PushKindTests {
    @Test(arguments: NotificationKind.allCases)
    func `a kind's type, content and name belong together`(kind: NotificationKind) throws {
        let content = PushContent.sample(kind, thumbnailKey: "k.jpg")
        #expect(kind.type.kind == kind && content.kind == kind && content.push.content == content)
        #expect(try PushContent(kind, decoding: content.encoded()) == content)
    }

    @Test func `dedupe keys, lanes and lifetimes are those of the kind`() throws {
        let (id, user) = (UUID(), UUID())
        let (topic, name) = (UUID(), try #require(TopicName("conversation:c")))
        func message(_ memberCount: Int) -> NotificationRequested {
            ChatMessagePush(conversation: name, topicID: topic, messageID: "m:1", senderID: user, senderName: nil, text: nil)
                .request(id, postedAt: Date(), memberCount: memberCount)
        }
        #expect(message(50).lane == .urgent && message(51).lane == .normal && message(2).exceptUserID == user)
        #expect(message(2).dedupeKey == "chat:\(topic.wireString):m:1")
        #expect(ChatMessagePush.messageID(of: message(2).dedupeKey) == "m:1")
        #expect(ChatMessagePush.messageID(of: SignInPush.dedupeKey(about: id)) == nil)
        let photos = NewPhotosPush(topic: name, topicID: topic, senderID: user, thumbnailKey: nil)
        #expect(photos.request(of: id, except: nil, memberCount: 100).lane == .normal)
        #expect(photos.request(of: id, except: nil, memberCount: 101).lane == .bulk)
        #expect(photos.request(of: id, except: user, memberCount: 1).dedupeKey == "photos:\(id.wireString)")
        let alert = AccountAlertPush(.emailChanged, of: user).request(cause: id)
        #expect(alert.dedupeKey == "account:email_changed:\(id.wireString)" && alert.lane == .urgent)
        #expect(abs(alert.expiresAt.timeIntervalSinceNow - 7 * 86_400) < 60)
        let result = SignUpPush(sessionID: id, userID: user, succeeded: true).request()
        #expect(result.dedupeKey == "ekyc:\(id.wireString)" && result.recipient == .session(id))
        let end = Date(timeIntervalSinceNow: 600).roundedToMilliseconds
        let confirmation = SignInConfirmationPush(sessionID: id, userID: user).request(expiresAt: end)
        #expect(confirmation.dedupeKey == "confirmation:\(id.wireString)" && confirmation.recipient == .user(user))
        #expect(confirmation.lane == .urgent && confirmation.expiresAt == end)
    }

    @Test func `a job has one end, and a session one result`() {
        let id = UUID()
        #expect(JobCompletedPush.dedupeKey(about: id) == JobFailedPush.dedupeKey(about: id))
        #expect(SignUpPush.dedupeKey(about: id) == SignInPush.dedupeKey(about: id))
    }

    @Test func `only the newest photos and messages of a topic are sent after an outage, and all results`() {
        let kept = NotificationKind.allCases.filter { $0.type.newestKept != nil }
        #expect(kept == [.newPhotos, .chatMessage])
        #expect(NotificationKind.allCases.filter { $0.type.isSessionResult } == [.signUp, .signIn])
        #expect(NotificationKind.allCases.filter { $0.type.condition == .jobExists } == [.jobCompleted, .jobFailed])
    }
}
