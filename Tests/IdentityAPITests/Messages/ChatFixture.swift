import Accounts
import Foundation
import HTTPClient
import HeliographCrypto
import JSON
import PostgresClient
import Push
import ServiceDefaults
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

/// A conversation of Ada, who created it, and Ben; Eve is not a member. All are signed in.
struct Chat: Sendable {
    static let path = "/v1/topics/conversation:c-1"

    let api: IdentityFixture
    let ada: Customer
    let ben: Customer
    let eve: Customer

    static func make(_ api: IdentityFixture) async throws -> Chat {
        let people = (try await api.customer("ada"), try await api.customer("ben"), try await api.customer("eve"))
        #expect(try await api.send("PUT", path + "/members/me", headers: [people.0.bearer]).status == 200)
        try await api.bring(people.1, to: path, by: people.0)
        return Chat(api: api, ada: people.0, ben: people.1, eve: people.2)
    }

    func post(_ json: String, by sender: Customer, to path: String = Chat.path) async throws -> HTTPClientResponse {
        try await api.json("POST", path + "/messages", json, by: sender)
    }

    /// Posts a text and expects that it is accepted.
    func say(_ text: String, _ messageID: String, by sender: Customer) async throws {
        let answer = try await post(#"{"message_id":"\#(messageID)","text":"\#(text)"}"#, by: sender)
        #expect(answer.status == 202)
    }

    func read(_ json: String = "", by reader: Customer, of path: String = Chat.path) async throws -> HTTPClientResponse {
        try await api.json("POST", path + "/read", json, by: reader)
    }

    /// Returns the requested pushes about messages, in order.
    func pushes() async throws -> [NotificationRequested] {
        try await api.pushes().filter { $0.kind == .chatMessage }
    }
}

extension NotificationRequested {
    /// The content of a push about a message.
    func chatMessage() throws -> ChatMessagePush {
        guard case .chatMessage(let message) = content else { throw DeadlineExceeded(description: "a push about no message") }
        return message
    }
}

extension IdentityFixture {
    /// Returns all requested pushes, in order.
    func pushes() async throws -> [NotificationRequested] {
        try await postgres.query("SELECT body FROM outbox WHERE type = 'notification.requested' ORDER BY id").map { row in
            try EncodedEnvelope(
                id: UUID(), type: .notificationRequested, version: 1, key: "k", occurredAt: Date(), body: try row.decode("body")
            ).decode(NotificationRequested.self).body
        }
    }

    /// Makes two customers, of whom the first owns the topic `event:1`.
    func event() async throws -> (Customer, Customer) {
        let (owner, other) = (try await customer("one"), try await customer("another"))
        #expect(try await send("PUT", "/v1/topics/event:1/members/me", headers: [owner.bearer]).status == 200)
        return (owner, other)
    }

    /// Invites a user to a topic by its owner, and accepts as the user.
    func bring(_ user: Customer, to topic: String, by owner: Customer) async throws {
        let invited = try await send("PUT", topic + "/members/\(user.userID.wireString)", headers: [owner.bearer])
        #expect(invited.status == 202 && invited.json.text("data.status") == "invited")
        #expect(try await send("PUT", topic + "/members/me", headers: [user.bearer]).status == 200)
    }

    /// Binds the sign-in of a customer to an installation, as the registration of its push token does.
    func bindInstallation(_ customer: Customer, to installation: String) async throws {
        let authenticator = AccessTokenAuthenticator(postgres: postgres)
        let identity = try await authenticator.authenticate(bearer: customer.token)
        let family = try #require(identity?.signInID)
        let binding = try await postgres.withTransaction { transaction in
            try await AccessTokenRepository(transaction)
                .bindInstallation(familyID: family, of: customer.userID, to: SHA256.hash(installation))
        }
        #expect(binding == .bound)
    }

    func json(_ method: String, _ path: String, _ json: String, by sender: Customer? = nil) async throws -> HTTPClientResponse {
        let headers = (sender.map { [$0.bearer] } ?? []) + [(name: "Content-Type", value: "application/json")]
        return try await send(method, path, headers: headers, body: Array(json.utf8))
    }
}
