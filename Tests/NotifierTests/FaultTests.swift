import Accounts
import EventBus
import FCMEmulator
import Foundation
import HeliographCrypto
import HeliographTracing
import InMemoryLogging
import JSON
import Logging
import PostgresClient
import Push
import TestSupport
import Testing
import WireFormat

@testable import Notifier

@Suite struct FaultTests {
    /// What becomes of a push to one phone.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let fault: FCMFault
        /// The number of answers with the fault; nil for all.
        let count: Int?
        var maxAttempts = "5"
        let state: Delivery.State
        let sends: Int
    }

    @Test(arguments: [
        Row(testDescription: "is retried", fault: .unavailable, count: 2, state: .accepted, sends: 3),
        Row(testDescription: "is retried after another fault", fault: .internal, count: 2, state: .accepted, sends: 3),
        Row(testDescription: "is given up", fault: .unavailable, count: nil, maxAttempts: "3", state: .failed, sends: 3),
        Row(testDescription: "is not retried", fault: .unavailable, count: 1, maxAttempts: "1", state: .failed, sends: 1),
        Row(testDescription: "names a bad token", fault: .invalidArgument, count: 1, state: .dead, sends: 1),
        Row(testDescription: "names a dead token", fault: .unregistered, count: 1, state: .dead, sends: 1),
    ])
    func `a push that meets a fault`(row: Row) async throws {
        try await NotifierFixture.with(settings: ["NOTIFY_MAX_ATTEMPTS": row.maxAttempts, "NOTIFY_RETRY_SECONDS": "0.02"]) { fixture in
            var rule = FaultRule(.error(row.fault))
            rule.count = row.count
            fixture.emulator.addFault(rule)
            let delivery = try #require(try await fixture.settled(fixture.address([fixture.emulator.mintToken()])).first)
            #expect(delivery.state == row.state && delivery.attempt == row.sends)
            #expect(fixture.emulator.statistics.sends == row.sends)
            if row.state != .accepted { #expect(delivery.code == row.fault.rawValue) }
        }
    }

    @Test func `a push whose answer is lost is sent again under the same collapse id, without sound`() async throws {
        try await NotifierFixture.with { fixture in
            let token = fixture.emulator.mintToken()
            var rule = FaultRule(.resetStream())
            rule.isDelivered = true
            fixture.emulator.addFault(rule)
            let delivery = try #require(try await fixture.settled(fixture.address([token])).first)
            #expect(delivery.state == .accepted)
            let messages = await fixture.emulator.messages(to: token, atLeast: 2, within: .seconds(60))
            #expect(messages.count == 2)
            let ids = messages.map { $0.message["apns"]?["headers"]?["apns-collapse-id"]?.string }
            #expect(Set(ids).count == 1)
            #expect(ids.first??.hasPrefix("ekyc:") == true)
            #expect(messages.map { Self.sound(of: $0) } == ["default", nil])
        }
    }

    @Test func `a push that FCM has certainly refused keeps its sound when it is sent again`() async throws {
        try await NotifierFixture.with { fixture in
            let token = fixture.emulator.mintToken()
            fixture.emulator.addFault(FaultRule(.error(.thirdPartyAuthError)))
            _ = try await fixture.address([token])
            let message = await fixture.emulator.messages(to: token, atLeast: 1, within: .seconds(60)).first
            #expect(message.map { Self.sound(of: $0) } == "default")
        }
    }

    private static func sound(of message: ReceivedMessage) -> String? {
        message.message["apns"]?["payload"]?["aps"]?["sound"]?.string
    }

    @Test func `the Retry-After of FCM is honoured`() async throws {
        try await NotifierFixture.with(settings: ["NOTIFY_RETRY_SECONDS": "0.01"]) { fixture in
            var rule = FaultRule(.error(.unavailable))
            rule.retryAfter = "600"
            fixture.emulator.addFault(rule)
            let addressed = try await fixture.address([fixture.emulator.mintToken()], expiresIn: 86_400)
            try await eventually("it waits") { try await fixture.deliveries(addressed).first?.code == "UNAVAILABLE" }
            let rows = try await fixture.postgres.query("SELECT due_at > now() + interval '500 seconds' FROM deliveries")
            #expect(try rows.map { try $0.decode(0, as: Bool.self) } == [true])
            try await fixture.postgres.execute("UPDATE deliveries SET due_at = now()")
            #expect(try await fixture.settled(addressed).map(\.state) == [.accepted])
        }
    }

    @Test func `a delivery whose sender died is sent again when its lease has ended`() async throws {
        try await NotifierFixture.with(isRunning: false) { fixture in
            let token = fixture.emulator.mintToken()
            let addressed = try await fixture.address([token])
            try await fixture.postgres.execute("DELETE FROM outbox")
            // Stands for a sender that claims the delivery and dies.
            let claimed = try await DeliveryRepository(fixture.postgres).claim(
                addressed.deliveryIDs, lease: .milliseconds(500))
            #expect(claimed.count == 1)
            try await fixture.withNotifier {
                let delivery = try #require(try await fixture.settled(addressed).first)
                #expect(delivery.state == .accepted)
                #expect(delivery.attempt == 2)
            }
        }
    }

    @Test func `a retried push keeps the request id and trace of its request, in the log and in its event`() async throws {
        var lines = InMemoryLogHandler()
        lines.metadataProvider = .work
        let logger = Logger(label: "test") { [lines] _ in lines }
        try await NotifierFixture.with(logger: logger) { fixture in
            var rule = FaultRule(.error(.unavailable))
            rule.count = 2
            fixture.emulator.addFault(rule)
            let addressed = try await fixture.address([fixture.emulator.mintToken()])
            #expect(try await fixture.settled(addressed).map(\.attempt) == [3])
            let repeated = lines.entries.filter { $0.message == "push failed, will be retried" }.map(\.metadata)
            #expect(repeated.map { $0["attempt"] } == ["1", "2"])
            for line in repeated {
                #expect(line["request_id"] == "req-1" && line["trace_id"] == "4bf92f3577b34da6a3ce929d0e0e4736")
            }
            let events = try await fixture.postgres.query(
                "SELECT request_id, traceparent FROM outbox WHERE type = \(NotificationSettled.type.rawValue)")
            #expect(try events.map { try $0.decode("request_id", as: String?.self) } == ["req-1"])
            #expect(try events.map { try $0.decode("traceparent", as: String?.self) } == [NotifierFixture.traceparent])
        }
    }

    @Test func `installations for which FCM fails do not block the lane`() async throws {
        try await NotifierFixture.with(settings: ["NOTIFY_RETRY_SECONDS": "600", "CONSUMER_CONCURRENCY": "8"]) { fixture in
            let troubled = (0..<50).map { _ in fixture.emulator.mintToken() }
            for token in troubled {
                var rule = FaultRule(.error(.unavailable))
                rule.registration = token
                rule.count = nil
                fixture.emulator.addFault(rule)
            }
            // More events than the lane has workers, so that waiting in one would block it.
            var waiting: [NotifierFixture.Addressed] = []
            for token in troubled { waiting.append(try await fixture.address([token], expiresIn: 86_400)) }
            let good = try await fixture.settled(fixture.address([fixture.emulator.mintToken()]))
            #expect(good.first?.state == .accepted)
            for addressed in waiting {
                try await eventually("it was tried and waits") {
                    try await fixture.deliveries(addressed).first?.code == "UNAVAILABLE"
                }
                #expect(try await fixture.deliveries(addressed).first?.state == .pending)
            }
        }
    }

    @Test func `a lane that FCM slows down is paused, and other lanes are not`() async throws {
        try await NotifierFixture.with { fixture in
            let user = try await fixture.postgres.makeUser(emailLookup: SHA256.hash("ada"), emailSealed: [1]).id
            var quota = FaultRule(.error(.quotaExceeded))
            quota.count = 3
            fixture.emulator.addFault(quota)
            let phones = (0..<3).map { _ in fixture.emulator.mintToken() }
            let refused = try await fixture.address(phones, of: user, expiresIn: 86_400, lane: .bulk)
            try await eventually("the lane is paused") {
                try await fixture.deliveries(refused).allSatisfy { $0.code == "QUOTA_EXCEEDED" }
            }
            let tokens = (0..<40).map { _ in fixture.emulator.mintToken() }
            let behind = try await fixture.address(tokens, expiresIn: 86_400, lane: .bulk)
            try await eventually("the deliveries behind them wait unsent, without costing attempts") {
                try await fixture.deliveries(behind).allSatisfy {
                    $0.state == .pending && $0.code == "lane_paused" && $0.attempt == 0
                }
            }
            let urgent = try await fixture.settled(fixture.address([fixture.emulator.mintToken()]))
            #expect(urgent.first?.state == .accepted)
            #expect(fixture.emulator.statistics.sends == 4)
        }
    }

    @Test func `a device over its own FCM quota does not delay other devices`() async throws {
        try await NotifierFixture.with { fixture in
            let busy = fixture.emulator.mintToken()
            var quota = FaultRule(.error(.quotaExceeded))
            quota.registration = busy
            fixture.emulator.addFault(quota)
            let waiting = try await fixture.address([busy], expiresIn: 86_400)
            try await eventually("it waits") { try await fixture.deliveries(waiting).first?.code == "QUOTA_EXCEEDED" }
            let other = try await fixture.settled(fixture.address([fixture.emulator.mintToken()]))
            #expect(other.first?.state == .accepted)
        }
    }

    @Test func `an urgent push is sent while pushes of other lanes hang`() async throws {
        try await NotifierFixture.with { fixture in
            let tokens = (0..<100).map { _ in fixture.emulator.mintToken() }
            var silence = FaultRule(.hang)
            silence.count = 100
            fixture.emulator.addFault(silence)
            let bulk = try await fixture.address(tokens, expiresIn: 86_400, lane: .bulk)
            try await eventually("the initial in-flight limit is reached") { fixture.emulator.statistics.sends >= 32 }
            fixture.emulator.clearFaults()
            let urgent = try await fixture.settled(fixture.address([fixture.emulator.mintToken()]))
            #expect(urgent.first?.state == .accepted && urgent.first?.attempt == 1)
            #expect(try await fixture.deliveries(bulk).allSatisfy { $0.code == nil }, "none of them has ended yet")
        }
    }

    @Test func `a push that had to wait is not sent to a phone that has another user by then`() async throws {
        let clock = ManualClock(isRunning: true)
        try await NotifierFixture.with(clock: clock) { fixture in
            // Fills the initial in-flight limit until the connections are closed.
            var silence = FaultRule(.hang)
            silence.count = 32
            fixture.emulator.addFault(silence)
            _ = try await fixture.address((0..<100).map { _ in fixture.emulator.mintToken() }, expiresIn: 86_400, lane: .bulk)
            try await eventually("the in-flight limit is reached") { fixture.emulator.statistics.sends >= 32 }
            let ada = try await fixture.postgres.makeUser(emailLookup: SHA256.hash("ada"), emailSealed: [1]).id
            let ben = try await fixture.postgres.makeUser(emailLookup: SHA256.hash("ben"), emailSealed: [1]).id
            let phone = fixture.emulator.mintToken()
            let adas = try await fixture.address([phone], of: ada, expiresIn: 86_400, lane: .bulk)
            try await eventually("it is claimed") {
                try await !fixture.postgres.query(
                    "SELECT FROM delivery_pages WHERE id = \(adas.pageIDs[0]) AND state = 'sending'"
                ).isEmpty
            }
            // Another user signs in on the phone.
            try await fixture.postgres.execute(
                """
                UPDATE push_installs SET user_id = \(ben), generation = generation + 1, bound_generation = generation + 1
                WHERE user_id = \(ada)
                """)
            clock.advance(by: DeliveryLimits().claimAge)
            fixture.emulator.dropConnections()
            let delivery = try #require(try await fixture.settled(adas).first)
            #expect(delivery.state == .skipped && delivery.code == "no_installation")
            #expect(await fixture.emulator.messages(to: phone).isEmpty)
        }
    }

    @Test func `a push that would be retried after its expiry expires`() async throws {
        try await NotifierFixture.with(settings: ["NOTIFY_RETRY_SECONDS": "600"]) { fixture in
            fixture.emulator.addFault(FaultRule(.error(.unavailable)))
            let addressed = try await fixture.address([fixture.emulator.mintToken()], expiresIn: 60)
            #expect(try await fixture.settled(addressed).first?.state == .expired)
        }
    }

    @Test func `a delivery whose sender died after its event was handled is claimed by one of two notifiers, once`() async throws {
        try await NotifierFixture.with(isRunning: false) { fixture in
            let tokens = (0..<30).map { _ in fixture.emulator.mintToken() }
            let addressed = try await fixture.address(tokens)
            // Without their events, the deliveries can be found only by their leases.
            try await fixture.postgres.execute("DELETE FROM outbox")
            let claimed = try await DeliveryRepository(fixture.postgres).claim(
                addressed.deliveryIDs, lease: .milliseconds(500))
            #expect(claimed.count == 30)
            try await fixture.withNotifier {
                try await fixture.withNotifier {
                    let deliveries = try await fixture.settled(addressed)
                    #expect(deliveries.allSatisfy { $0.state == .accepted && $0.attempt == 2 })
                }
            }
            #expect(fixture.emulator.statistics.sends == 30)
        }
    }

    @Test func `a shutdown waits for the retry that is in flight`() async throws {
        try await NotifierFixture.with(isRunning: false) { fixture in
            var slow = FaultRule(.none)
            slow.latency = .seconds(1)
            fixture.emulator.addFault(slow)
            let addressed = try await fixture.address([fixture.emulator.mintToken()])
            try await fixture.postgres.execute("DELETE FROM outbox")
            _ = try await DeliveryRepository(fixture.postgres).claim(
                addressed.deliveryIDs, lease: .zero)
            try await fixture.withNotifier {
                try await eventually("the emulator has the request") { fixture.emulator.statistics.sends == 1 }
            }
            #expect(try await fixture.deliveries(addressed).first?.state == .accepted)
        }
    }

    @Test func `a second delivery of the event sends nothing`() async throws {
        try await NotifierFixture.with { fixture in
            let token = fixture.emulator.mintToken()
            let addressed = try await fixture.address([token])
            _ = try await fixture.settled(addressed)
            try await OutboxRepository(fixture.postgres).publish(
                NotificationAddressed(
                    notificationID: addressed.notificationID, pageID: addressed.pageIDs[0], count: 1, lane: .urgent))
            let later = try await fixture.address([fixture.emulator.mintToken()])
            _ = try await fixture.settled(later)
            #expect(await fixture.emulator.messages(to: token).count == 1)
        }
    }

    @Test func `a shutdown does not wait for a deferred push`() async throws {
        try await NotifierFixture.with(settings: ["NOTIFY_RETRY_SECONDS": "600"], isRunning: false) { fixture in
            fixture.emulator.addFault(FaultRule(.error(.unavailable)))
            let addressed = try await fixture.address([fixture.emulator.mintToken()], expiresIn: 86_400)
            let start = ContinuousClock.now
            try await fixture.withNotifier {
                try await eventually("the first try failed") {
                    try await fixture.deliveries(addressed).first?.code == "UNAVAILABLE"
                }
            }
            #expect(ContinuousClock.now - start < .seconds(300))
            #expect(try await fixture.deliveries(addressed).first?.state == .pending)
        }
    }
}
