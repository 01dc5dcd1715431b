import EventBus
import FCMEmulator
import Foundation
import JSON
import PostgresClient
import Push
import TestSupport
import Testing
import WireFormat

@Suite struct DeliveryTests {
    @Test func `a push reaches the phone and its delivery is settled`() async throws {
        try await NotifierFixture.with { fixture in
            let token = fixture.emulator.mintToken()
            let delivery = try #require(try await fixture.settled(fixture.address([token])).first)
            #expect(delivery.state == .accepted)
            #expect(delivery.attempt == 1)
            let messages = await fixture.emulator.messages(to: token)
            #expect(messages.count == 1)
            #expect(messages.first?.name == delivery.fcmName)
            #expect(messages.first?.message["data"]?["success"]?.string == "true")
        }
    }

    @Test func `refusals are published one by one and acceptances as a count, with the request id`() async throws {
        try await NotifierFixture.with { fixture in
            let good = fixture.emulator.mintToken()
            let dead = fixture.emulator.mintToken()
            fixture.emulator.deleteToken(dead)
            let tail = try await fixture.transport.openTail(stream: "notification.settled")
            let addressed = try await fixture.address([good, dead])
            var outcomes: [SettledDelivery] = []
            var acceptedCount = 0
            try await eventually("both outcomes are published") {
                for entry in (try? await tail.read(count: 10, wait: .milliseconds(200))) ?? [] {
                    let event = try EncodedEnvelope(streamFields: entry.contents).decode(NotificationSettled.self)
                    #expect(event.requestID == "req-1")
                    #expect(event.body.notificationID == addressed.notificationID)
                    outcomes += event.body.outcomes
                    acceptedCount += event.body.acceptedCount ?? 0
                }
                return outcomes.count + acceptedCount >= 2
            }
            await tail.close()
            #expect(acceptedCount == 1 && outcomes.map(\.outcome) == [.dead] && outcomes.first?.code == "UNREGISTERED")
        }
    }

    @Test func `many installations are reached with one event`() async throws {
        try await NotifierFixture.with { fixture in
            let tokens = (0..<250).map { _ in fixture.emulator.mintToken() }
            let deliveries = try await fixture.settled(fixture.address(tokens, lane: .bulk))
            #expect(deliveries.count == 250)
            #expect(deliveries.allSatisfy { $0.state == .accepted && $0.attempt == 1 })
            #expect(fixture.emulator.statistics.accepted == 250)
        }
    }

    @Test func `a fan-out that has yielded to an urgent push resumes by itself`() async throws {
        try await NotifierFixture.with { fixture in
            let tokens = (0..<250).map { _ in fixture.emulator.mintToken() }
            // The last answer of a batch comes before its pause is over, and nothing else rings after it.
            let urgent = try await fixture.address([fixture.emulator.mintToken()])
            let bulk = try await fixture.address(tokens, lane: .bulk)
            #expect(try await fixture.settled(urgent).allSatisfy { $0.state == .accepted })
            #expect(try await fixture.settled(bulk).allSatisfy { $0.state == .accepted && $0.attempt == 1 })
        }
    }

    @Test func `a deleted installation gets no push`() async throws {
        try await NotifierFixture.with(isRunning: false) { fixture in
            let addressed = try await fixture.address([fixture.emulator.mintToken()])
            try await fixture.postgres.execute("DELETE FROM push_installs")
            try await fixture.withNotifier {
                let delivery = try #require(try await fixture.settled(addressed).first)
                #expect(delivery.state == .skipped)
            }
            #expect(fixture.emulator.statistics.sends == 0)
        }
    }

    @Test func `an expired push is not sent`() async throws {
        try await NotifierFixture.with { fixture in
            let addressed = try await fixture.address([fixture.emulator.mintToken()], expiresIn: -1)
            let delivery = try #require(try await fixture.settled(addressed).first)
            #expect(delivery.state == .expired)
            #expect(fixture.emulator.statistics.sends == 0)
        }
    }

    @Test func `a notification whose content was erased fails, and others are sent`() async throws {
        try await NotifierFixture.with(isRunning: false) { fixture in
            let token = fixture.emulator.mintToken()
            let bad = try await fixture.address([token])
            try await fixture.postgres.execute("UPDATE notifications SET content = NULL")
            let good = try await fixture.address([token])
            try await fixture.withNotifier {
                let (failed, sent) = (try await fixture.settled(bad).first, try await fixture.settled(good).first)
                #expect(failed?.code == "invalid_message" && sent?.state == .accepted)
            }
        }
    }

    private static let titles: [(NotificationKind, String?)] = [
        (.jobCompleted, "Image Ready! 🎨"), (.jobFailed, "Processing Failed"), (.signUp, "eKYC Sign Up"), (.signIn, "eKYC Sign In"),
        (.newPhotos, "PhotoShare"), (.chatMessage, "Zoë"), (.accountAlert, "New sign-in"), (.possessionCheck, nil), (.custom, "Zoë"),
    ]

    @Test(arguments: titles)
    func `every kind becomes its push`(kind: NotificationKind, title: String?) async throws {
        try await NotifierFixture.with { fixture in
            let (token, id) = (fixture.emulator.mintToken(), UUIDv7.generate())
            let job = try await fixture.completeJob(of: fixture.user())
            let content = try PushContent.sample(kind, jobID: job, text: "Zoë") { text, use in
                try SealedText(sealing: text, use, of: id, with: fixture.sealer)
            }
            let addressed = try await fixture.address([token], content: content, id: id, lane: .normal)
            #expect(try await fixture.settled(addressed).first?.state == .accepted)
            let message = try #require(await fixture.emulator.messages(to: token).first?.message)
            #expect(message["notification"]?["title"]?.string == title)
        }
    }
}
