import Accounts
import FoundationEssentials
import HeliographCrypto
import PostgresClient
import Push
import TestSupport
import Testing
import WireFormat

@testable import TokenRegistry

struct NotificationSettledHandlerTests {
    /// Addresses a push and settles its deliveries as the notifier does.
    private func push(
        _ recipient: NotificationRecipient, kind: NotificationKind = .signIn, outcome: DeliveryOutcome,
        on registry: Registry
    ) async throws -> NotificationSettled {
        try await push(NotificationRequested.make(recipient, kind: kind), outcome, on: registry)
    }

    private func push(
        aboutResultOf sessionID: UUID, outcome: DeliveryOutcome, on registry: Registry
    ) async throws -> NotificationSettled {
        let session = try #require(try await SessionRepository(registry.client).find(id: sessionID))
        return try await push(registry.result(of: session), outcome, on: registry)
    }

    private func push(
        _ request: NotificationRequested, _ outcome: DeliveryOutcome, on registry: Registry
    ) async throws -> NotificationSettled {
        try await registry.request(request)
        let deliveries = DeliveryRepository(registry.client)
        let ids = try await deliveries.find(notificationID: request.notificationID).map(\.id)
        let claimed = try await deliveries.claim(ids)
        #expect(!claimed.isEmpty)
        let code = outcome == .dead ? "UNREGISTERED" : nil
        try await deliveries.settle(ids.map { DeliverySettlement(id: $0, outcome: outcome, code: code) })
        return NotificationSettled(
            notificationID: request.notificationID,
            outcomes: claimed.map {
                SettledDelivery(deliveryID: $0.id, installationID: $0.installID, outcome: outcome, code: code)
            })
    }

    @Test func `an accepted push closes the notification and keeps the installation`() async throws {
        try await Registry.run { registry in
            let session = try await registry.makeSession(token: "a:1")
            let event = try await push(.session(session), outcome: .accepted, on: registry)
            try await registry.settled(event)
            try await registry.settled(event)
            let record = try await NotificationRepository(registry.client).find(ids: [event.notificationID]).first
            #expect(record?.state == .settled)
            #expect(try await registry.install("a:1")?.state == .active)
        }
    }

    @Test func `all dead tokens of a user are pruned`() async throws {
        try await Registry.run { registry in
            let user = try await registry.makeUser(tokens: "a:1", "b:1")
            let event = try await push(.user(user), kind: .jobCompleted, outcome: .dead, on: registry)
            try await registry.settled(event)
            let installs = try [await registry.install("a:1"), await registry.install("b:1")]
            #expect(installs.map(\.?.state) == [.invalid, .invalid])
            #expect(installs.allSatisfy { $0?.invalidAt != nil })
        }
    }

    @Test func `a token that was replaced while the push was in flight is not pruned`() async throws {
        try await Registry.run { registry in
            let user = try await registry.makeUser(tokens: "a:1")
            let event = try await push(.user(user), outcome: .dead, on: registry)
            let next = try registry.registration("a:2")
            try await registry.client.withTransaction { _ = try await PushInstallRepository($0).register(next, userID: user) }
            try await registry.settled(event)
            #expect(try await registry.install("a:1")?.state == .active)
        }
    }

    @Test func `an installation that only a failed session has registered is deleted`() async throws {
        try await Registry.run { registry in
            let failed = try await registry.makeSession(token: "a:1", outcome: .failed(.noMatch))
            let event = try await push(.session(failed), outcome: .accepted, on: registry)
            try await registry.settled(event)
            #expect(try await registry.install("a:1") == nil)
        }
    }

    @Test func `an installation of a user survives a failed session on it`() async throws {
        try await Registry.run { registry in
            _ = try await registry.makeUser(tokens: "a:1")
            let failed = try await registry.makeSession(token: "a:1", outcome: .failed(.noMatch))
            let event = try await push(.session(failed), outcome: .accepted, on: registry)
            try await registry.settled(event)
            #expect(try await registry.install("a:1") != nil)
        }
    }

    @Test func `an unbound installation is kept until its successful sign-in is redeemed`() async throws {
        try await Registry.run { registry in
            _ = try await registry.makeUser(tokens: "cAAAAAAAAAAAAAAAAAAAAA:mine")
            let session = try await registry.makeSession(token: "cAAAAAAAAAAAAAAAAAAAAA:another")
            try await registry.settled(try await push(aboutResultOf: session, outcome: .accepted, on: registry))
            let unbound = try #require(try await registry.install(of: session))
            #expect(unbound.userID == nil && unbound.state == .active)
        }
    }

    @Test func `the installation of a failed session is kept while another push to it is pending`() async throws {
        try await Registry.run { registry in
            let failed = try await registry.makeSession(token: "a:1", outcome: .failed(.noMatch))
            let event = try await push(.session(failed), outcome: .accepted, on: registry)
            let second = try await registry.makeSession(token: "a:1", outcome: .succeeded)
            try await registry.request(.make(.session(second)))
            try await registry.settled(event)
            #expect(try await registry.install("a:1") != nil)
        }
    }

    @Test func `a settlement of something unknown is harmless`() async throws {
        try await Registry.run { registry in
            let outcome = SettledDelivery(deliveryID: UUID(), installationID: UUID(), outcome: .dead)
            try await registry.settled(NotificationSettled(notificationID: UUID(), outcomes: [outcome]))
        }
    }
}
