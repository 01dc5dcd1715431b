import Accounts
import EventBus
import FoundationEssentials
import HeliographCrypto
import HeliographTracing
import InMemoryLogging
import Logging
import PostgresClient
import Push
import TestSupport
import Testing
import WireFormat

@testable import TokenRegistry

struct NotificationRequestedHandlerTests {
    @Test func `a session's push is addressed to the device that started it`() async throws {
        try await Registry.run { registry in
            let token = "cAAAAAAAAAAAAAAAAAAAAA:APA91b-token"
            let session = try await registry.makeSession(token: token)
            let request = NotificationRequested.make(.session(session))
            try await registry.request(request)

            let install = try #require(try await registry.install(token))
            #expect(install.userID == nil && install.kind == .token && install.state == .active)
            let opened = try registry.sealer.open(
                install.valueSealed, context: PushInstall.sealingContext(installationKey: install.installationKey))
            #expect(String(decoding: opened, as: UTF8.self) == token)

            let message = try #require(try await registry.takeOutbox().first)
            #expect(message.stream == "notification.addressed.urgent")
            let event = try message.envelope.decode(NotificationAddressed.self)
            #expect(event.requestID == "r-1" && event.expiresAt != nil)
            #expect(event.body.notificationID == request.notificationID)
            let deliveries = try await DeliveryRepository(registry.client).find(notificationID: request.notificationID)
            #expect(deliveries.map(\.id) == [DeliveryPage.deliveryID(1, of: event.body.pageID)] && event.body.count == 1)
            #expect(deliveries.map(\.installID) == [install.id])
            #expect(try await registry.notification(request)?.state == .addressed)
        }
    }

    @Test func `a session with another token of a user's phone gets its push, and does not replace the user's token`() async throws {
        try await Registry.run { registry in
            let (known, other) = ("cAAAAAAAAAAAAAAAAAAAAA:APA91b-token", "cAAAAAAAAAAAAAAAAAAAAA:junk")
            _ = try await registry.makeUser(tokens: known)
            let mine = try #require(try await registry.install(known))
            let request = NotificationRequested.make(.session(try await registry.makeSession(token: other)))
            try await registry.request(request)
            #expect(try await registry.install(known) == mine)
            let delivery = try #require(
                try await DeliveryRepository(registry.client).find(notificationID: request.notificationID).first)
            let unbound = try #require(try await PushInstallRepository(registry.client).find(ids: [delivery.installID]).first)
            #expect(unbound.id != mine.id && unbound.userID == nil)
            let opened = try registry.sealer.open(
                unbound.valueSealed, context: PushInstall.sealingContext(installationKey: unbound.installationKey))
            #expect(String(decoding: opened, as: UTF8.self) == other)
            // The phone has another user and another token now; the push about the session is still sent to where it began.
            _ = try await registry.makeUser(tokens: other)
            let claimed = try await registry.client.withTransaction { transaction in
                try await DeliveryRepository(transaction).claim([delivery.id])
            }
            #expect(claimed.first?.installID == unbound.id && claimed.first?.target?.installationKey == unbound.installationKey)
        }
    }

    @Test func `a user's push is addressed to all active installations of the user only`() async throws {
        try await Registry.run { registry in
            let user = try await registry.makeUser(tokens: "phone:1", "tablet:1", "old:1")
            _ = try await registry.makeUser(tokens: "other:1")
            let old = try #require(try await registry.install("old:1"))
            _ = try await PushInstallRepository(registry.client).markDead([
                DeadInstall(id: old.id, generation: old.generation, code: "UNREGISTERED")
            ])
            let request = NotificationRequested.make(.user(user), kind: .jobCompleted)
            try await registry.request(request)
            let deliveries = try await DeliveryRepository(registry.client).find(notificationID: request.notificationID)
            let expected = try [await registry.install("phone:1"), await registry.install("tablet:1")].map(\.?.id)
            #expect(Set(deliveries.map(\.installID)) == Set(expected.compactMap { $0 }))
            #expect(try await registry.takeOutbox().count == 1)
        }
    }

    @Test func `an alert about an account reaches all of the user's installations but the excepted one`() async throws {
        try await Registry.run { registry in
            let user = try await registry.makeUser(tokens: "phone:1", "tablet:1")
            let (phone, tablet) = (try await registry.install("phone:1"), try await registry.install("tablet:1"))
            let alert = AccountAlertPush(.newSignIn, of: user).request(except: tablet?.id, cause: UUID())
            let toAll = AccountAlertPush(.recoveryStarted, of: user).request(cause: UUID())
            try await registry.request(alert, toAll)
            let deliveries = DeliveryRepository(registry.client)
            #expect(try await deliveries.find(notificationID: alert.notificationID).map(\.installID) == [phone?.id])
            #expect(try await deliveries.find(notificationID: toAll.notificationID).count == 2)
            let again = AccountAlertPush(.newSignIn, of: user).request(except: phone?.id, cause: UUID())
            try await registry.request(again)
            #expect(try await deliveries.find(notificationID: again.notificationID).map(\.installID) == [tablet?.id])
        }
    }

    @Test func `a push to an installation reaches it without a user, too`() async throws {
        try await Registry.run { registry in
            let install = try await PushInstallRepository(registry.client).registerUnbound(try registry.registration("phone:1"))
            let request = NotificationRequested.make(.installation(install.id), kind: .possessionCheck)
            let lost = NotificationRequested.make(.installation(UUID()), kind: .possessionCheck)
            try await registry.request(request, lost)
            let deliveries = try await DeliveryRepository(registry.client).find(notificationID: request.notificationID)
            #expect(deliveries.map(\.installID) == [install.id])
            let claimed = try await registry.client.withTransaction { try await DeliveryRepository($0).claim(deliveries.map(\.id)) }
            #expect(claimed.first?.suppression == nil && claimed.first?.target != nil)
            #expect(try await registry.notification(lost)?.skipReason == SkipReason.noInstallation.rawValue)
        }
    }

    @Test func `a second request with the same dedupe key changes nothing`() async throws {
        try await Registry.run { registry in
            let session = try await registry.makeSession(token: "a:1")
            let first = NotificationRequested.make(.session(session), dedupeKey: "ekyc:1")
            let second = NotificationRequested.make(.session(session), dedupeKey: "ekyc:1")
            try await registry.request(first, second)
            try await registry.request(second)
            #expect(try await registry.notification(second) == nil)
            #expect(try await registry.takeOutbox().count == 1)
        }
    }

    @Test func `a notification that two messages of a batch request is addressed once`() async throws {
        try await Registry.run { registry in
            let request = NotificationRequested.make(.session(try await registry.makeSession(token: "a:1")))
            try await registry.request(request, request)
            #expect(try await DeliveryRepository(registry.client).find(notificationID: request.notificationID).count == 1)
            #expect(try await registry.takeOutbox().count == 1)
        }
    }

    @Test func `an unreachable recipient is skipped with the reason, and others are addressed`() async throws {
        try await Registry.run { registry in
            let good = NotificationRequested.make(.session(try await registry.makeSession(token: "good:1")))
            let unknown = NotificationRequested.make(.session(UUID()))
            let missing = NotificationRequested.make(.session(try await registry.makeSession(token: nil)))
            let lonely = NotificationRequested.make(.user(try await registry.makeUser()))
            let topic = NotificationRequested.make(.topic("party:42"))
            let nonsense = NotificationRequested.make(NotificationRecipient(type: .session, id: "no uuid"))
            let late = NotificationRequested.make(
                .session(try await registry.makeSession(token: "late:1")), expiresAt: Date(timeIntervalSinceNow: -1))

            try await registry.request(unknown, missing, good, lonely, topic, nonsense, late)
            #expect(try await registry.notification(good)?.state == .addressed)
            let expected: [(NotificationRequested, SkipReason)] = [
                (unknown, .sessionUnknown), (missing, .tokenMissing), (lonely, .noInstallation), (topic, .recipientUnsupported),
                (nonsense, .recipientUnsupported), (late, .expired),
            ]
            for (request, reason) in expected {
                let record = try await registry.notification(request)
                #expect(record?.state == .skipped)
                #expect(record?.skipReason == reason.rawValue)
            }
            #expect(try await registry.takeOutbox().count == 1)
        }
    }

    @Test func `a log line about one request of a batch has its ids and its trace`() async throws {
        try await Registry.run { registry in
            var registry = registry
            var lines = InMemoryLogHandler()
            lines.metadataProvider = .work
            registry.logger = Logger(label: "test") { _ in lines }
            let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
            let requests = [
                Envelope(
                    NotificationRequested.make(.session(UUID())), traceparent: "00-\(trace)-00f067aa0ba902b7-01", requestID: "r-1"
                ),
                Envelope(NotificationRequested.make(.session(UUID())), requestID: "r-2"),
            ]
            let handler = registry.requestedHandler
            try await registry.service.withTransaction { try await handler.handle(requests, in: $0) }
            let named = Dictionary(
                uniqueKeysWithValues: lines.entries.map { ("\($0.metadata["request_id"] ?? "")", $0.metadata) })
            #expect(named.keys.sorted() == ["r-1", "r-2"])
            #expect(named["r-1"]?["trace_id"] == "\(trace)" && named["r-2"]?["trace_id"] == nil)
            for request in requests {
                let id = request.requestID.flatMap { named[$0] }?["message_id"]
                #expect(id == "\(request.id.wireString)")
            }
        }
    }

    @Test func `the installation of a failed session is deleted when its push is skipped`() async throws {
        try await Registry.run { registry in
            let session = try await registry.makeSession(token: "late:1", outcome: .failed(.noMatch))
            try await registry.request(.make(.session(session), expiresAt: Date(timeIntervalSinceNow: -1)))
            #expect(try await SessionRepository(registry.client).find(id: session)?.installID == nil)
            #expect(try await registry.install("late:1") == nil)
        }
    }

    @Test func `a token that FCM reported as dead after the upload is skipped`() async throws {
        try await Registry.run { registry in
            let session = try await registry.makeSession(token: "a:1")
            try await registry.request(.make(.session(session)))
            let install = try #require(try await registry.install("a:1"))
            _ = try await PushInstallRepository(registry.client).markDead([
                DeadInstall(id: install.id, generation: install.generation, code: "UNREGISTERED")
            ])
            let again = NotificationRequested.make(.session(session))
            try await registry.request(again)
            #expect(try await registry.notification(again)?.skipReason == SkipReason.tokenDead.rawValue)
        }
    }

    @Test func `a request that the database would refuse does not fail the batch`() async throws {
        try await Registry.run { registry in
            let good = NotificationRequested.make(.session(try await registry.makeSession(token: "a:1")))
            let long = NotificationRequested.make(.session(UUID()), dedupeKey: String(repeating: "k", count: 201))
            let null = NotificationRequested.make(.session(UUID()), dedupeKey: "na\u{0}me")
            try await registry.request(long, good, null)
            #expect(try await registry.notification(good)?.state == .addressed)
            #expect(try await registry.notification(long) == nil)
            #expect(try await registry.notification(null) == nil)
        }
    }

    @Test func `a text with a NUL is addressed as others are`() async throws {
        try await Registry.run { registry in
            var request = NotificationRequested.make(.session(try await registry.makeSession(token: "a:1")))
            request.content = .sample(.jobFailed, text: "a\u{0}b")
            try await registry.request(request)
            let kept = try await registry.notification(request)
            #expect(kept?.state == .addressed)
            #expect(kept?.content == request.content)
        }
    }

    @Test func `a user with very many installations is addressed in parts`() async throws {
        try await Registry.run { registry in
            let user = try await registry.makeUser()
            try await registry.client.execute(
                """
                INSERT INTO push_installs (installation_key, kind, value_sealed, value_hash, user_id)
                SELECT sha256(n::text::bytea), 'token', '', sha256(n::text::bytea), \(user)
                FROM generate_series(1, 1100) n
                """)
            try await registry.request(.make(.user(user)))
            let events = try await registry.takeOutbox().map { try $0.envelope.decode(NotificationAddressed.self).body }
            #expect(events.map(\.count) == [500, 500, 100])
            #expect(Set(events.map(\.pageID)).count == 3)
        }
    }
}
