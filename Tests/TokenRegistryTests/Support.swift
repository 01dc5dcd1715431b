import EventBus
import FoundationEssentials
import HeliographCrypto
import Logging
import PostgresClient
import Push
import Schema
import TestSupport
import WireFormat

@testable import Accounts
@testable import TokenRegistry

/// The handlers of the registry, on a database of their own.
struct Registry {
    /// The client of the owner of the tables, for what other services do.
    let client: PostgresClient
    /// The client of token-registry, with its role.
    let service: PostgresClient
    let sealer: Sealer
    var sessionKey = SecureRandom.bytes(32)
    var logger = Logger(label: "registry-tests") { _ in SwiftLogNoOpLogHandler() }

    /// Runs `body` with a registry.
    static func run(_ body: (Registry) async throws -> Void) async throws {
        try await withStorage(as: .tokenRegistry) { client, service in
            let keyRing = try KeyRing(parsing: KeyRing.generateText())
            try await body(Registry(client: client, service: service, sealer: Sealer(keyRing: keyRing)))
        }
    }

    var requestedHandler: NotificationRequestedHandler {
        NotificationRequestedHandler(logger: logger)
    }

    /// Handles requests in one transaction, as the consumer does.
    func request(_ requests: NotificationRequested...) async throws {
        try await service.withTransaction { transaction in
            try await requestedHandler.handle(requests.map { Envelope($0, requestID: "r-1") }, in: transaction)
        }
    }

    /// Handles settlements in one transaction, as the consumer does.
    func settled(_ events: NotificationSettled...) async throws {
        try await service.withTransaction { transaction in
            try await NotificationSettledHandler(logger: logger).handle(events.map { Envelope($0) }, in: transaction)
        }
    }

    /// The installation key of a token.
    func key(_ token: String) -> [UInt8] { target(token).installationKey }

    /// A token of any shape: the registry does not look at it.
    private func target(_ token: String) -> PushTarget { .token(token) }

    /// A registration of a token, as identity-api makes it.
    func registration(_ token: String) throws -> PushRegistration {
        let (target, key) = (target(token), key(token))
        return PushRegistration(
            installationKey: key, kind: target.kind,
            valueSealed: try sealer.seal(Array(token.utf8), context: PushInstall.sealingContext(installationKey: key)),
            valueHash: target.valueHash)
    }

    /// Makes a session whose device sent `token`; nil for one whose installation is deleted.
    func makeSession(token: String?, event: EkycEvent = .signIn, outcome: SessionOutcome? = .succeeded) async throws -> UUID {
        let id = UUID()
        var new = NewSession(id: id, userID: UUID(), event: event, tokenHash: SHA256.hash(Array("\(id)".utf8)))
        if event == .signIn { new.attemptKey = UUID() }
        if let token {
            new.installID = try await PushInstallRepository(client).registerUnbound(try registration(token)).id
            new.installationKey = key(token)
        }
        try await SessionRepository(client).insert(new)
        if let outcome { _ = try await SessionRepository(client).complete(id: id, outcome: outcome) }
        return id
    }

    /// The push about a session's result, as face-matching-worker requests it.
    func result(of session: Session) -> NotificationRequested {
        session.resultNotification(
            succeeded: session.state == .succeeded, account: session.userID,
            pseudonyms: SessionPseudonyms(sessionKey: sessionKey))
    }

    /// Makes a user with one active installation per token.
    func makeUser(tokens: String...) async throws -> UUID {
        let user = try await client.makeUser(
            emailLookup: SecureRandom.bytes(32), emailSealed: [1])
        for token in tokens {
            let registration = try registration(token)
            try await client.withTransaction { _ = try await PushInstallRepository($0).register(registration, userID: user.id) }
        }
        return user.id
    }

    /// Takes all events of the outbox.
    func takeOutbox() async throws -> [OutboxMessage] {
        let messages = try await OutboxRepository(client).takeBatch(limit: 1000)
        try await OutboxRepository(client).markPublished(
            messages.map { OutboxPublication(messageID: $0.envelope.id, entryID: "1-1") }, wait: .seconds(600),
            maxWait: .seconds(600))
        return messages
    }

    /// The row of a notification.
    func notification(_ request: NotificationRequested) async throws -> NotificationRecord? {
        try await NotificationRepository(client).find(ids: [request.notificationID]).first
    }

    /// The id of a topic.
    func topicID(_ name: String) async throws -> UUID {
        try await client.query("SELECT id FROM topics WHERE name = \(name)")[0].decode("id")
    }

    /// The installation to which a session's result is pushed.
    func install(of sessionID: UUID) async throws -> PushInstall? {
        let id = try await SessionRepository(client).find(id: sessionID)?.installID
        return try await PushInstallRepository(client).find(ids: [id].compactMap { $0 }).first
    }

    /// The installation of a token.
    func install(_ token: String) async throws -> PushInstall? {
        try await client.installs([key(token)]).first
    }
}

extension NotificationRequested {
    /// A request as the face-matching-worker makes it.
    static func make(
        _ recipient: NotificationRecipient, dedupeKey: String = UUID().uuidString, kind: NotificationKind = .signIn,
        expiresAt: Date = Date(timeIntervalSinceNow: 3600)
    ) -> NotificationRequested {
        NotificationRequested(
            dedupeKey: dedupeKey, content: .sample(kind), recipient: recipient, lane: .urgent, expiresAt: expiresAt)
    }
}
