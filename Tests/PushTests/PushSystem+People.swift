import Accounts
import EventBus
import FCMEmulator
import FoundationEssentials
import HeliographCrypto
import PostgresClient
import Push
import TestSupport
import Topics
import WireFormat

/// A phone: its FCM token or installation id, its user, and its row in the registry.
struct AddressedPhone: Sendable {
    let value: String
    let userID: UUID
    let installID: UUID
}

/// The number of targets of the fan-outs: small enough for seconds. `PUSH_TARGETS` makes them larger.
enum FanOutSize {
    static func targets(_ usual: Int) -> Int {
        ProcessInfo.processInfo.environment["PUSH_TARGETS"].flatMap { Int($0) } ?? usual
    }
}

extension PushSystem {
    /// Makes the registration that identity-api makes of a registration token or installation id.
    func registration(_ value: String) throws -> PushRegistration {
        guard let target = PushTarget(value) else { throw DeadlineExceeded(description: "not a registration") }
        let key = target.installationKey
        return PushRegistration(
            installationKey: key, kind: target.kind,
            valueSealed: try sealer.seal(Array(value.utf8), context: PushInstall.sealingContext(installationKey: key)),
            valueHash: target.valueHash)
    }

    func makeUser() async throws -> UUID {
        try await postgres.makeUser(emailLookup: SecureRandom.bytes(32), emailSealed: [1]).id
    }

    /// Registers a phone as identity-api does when its user signs in on it.
    @discardableResult
    func signIn(_ value: String, _ userID: UUID) async throws -> AddressedPhone {
        let registration = try registration(value)
        let registered = try await postgres.withTransaction { try await PushInstallRepository($0).register(registration, userID: userID) }
        return AddressedPhone(value: value, userID: userID, installID: registered.install.id)
    }

    /// Signs a user out on a phone, as identity-api does.
    func signOut(_ phone: AddressedPhone) async throws {
        let key = try registration(phone.value).installationKey
        try await PushInstallRepository(postgres).unregister(installationKey: key, userID: phone.userID)
    }

    /// Makes a topic of `count` users with one phone each.
    func crowd(_ count: Int, in name: String = "event:crowd") async throws -> [AddressedPhone] {
        guard let topic = TopicName(name) else { throw DeadlineExceeded(description: "not a topic") }
        let owner = try await makeUser()
        _ = try await postgres.withTransaction { try await TopicRepository($0).add(owner, to: topic, by: owner) }
        var phones: [AddressedPhone] = []
        while phones.count < count {
            phones += try await addPeople(min(1_000, count - phones.count), to: topic)
        }
        return phones
    }

    private func addPeople(_ count: Int, to topic: TopicName) async throws -> [AddressedPhone] {
        let tokens = (0..<count).map { _ in emulator.mintToken() }
        let registrations = try tokens.map(registration)
        let rows = try await postgres.query(
            """
            WITH given AS (
                SELECT gen_random_uuid() AS user_id, t.*
                FROM unnest(\(registrations.map(\.installationKey)), \(registrations.map(\.valueSealed)),
                            \(registrations.map(\.valueHash)), \(tokens)) AS t (key, sealed, hash, value)
            ), people AS (
                INSERT INTO users (id, email_sealed) SELECT user_id, '' FROM given
            ), joined AS (
                INSERT INTO topic_members (topic_id, user_id)
                SELECT t.id, g.user_id FROM given g, topics t WHERE t.name = \(topic.text)
            ), made AS (
                INSERT INTO push_installs (installation_key, kind, value_sealed, value_hash, user_id)
                SELECT key, 'token', sealed, hash, user_id FROM given RETURNING id, user_id
            )
            SELECT made.id, made.user_id, given.value FROM made JOIN given USING (user_id)
            """)
        return try rows.map { row throws(PostgresError) in
            AddressedPhone(value: try row.decode("value"), userID: try row.decode("user_id"), installID: try row.decode("id"))
        }
    }
}

extension PushSystem {
    /// Requests a push as the workers do: by a row in the outbox.
    @discardableResult
    func push(
        _ content: PushContent = .sample(.signIn), to recipient: NotificationRecipient, lane: Lane = .urgent,
        expiresIn seconds: Double = 600, id: UUID = UUIDv7.generate()
    ) async throws -> UUID {
        let request = NotificationRequested(
            notificationID: id, dedupeKey: UUID().uuidString, content: content, recipient: recipient, lane: lane,
            expiresAt: Date(timeIntervalSinceNow: seconds))
        try await postgres.withTransaction { try await OutboxRepository($0).publish(request, requestID: "req-1") }
        return request.notificationID
    }

    /// Pushes to all of a crowd.
    func fanOut(to topic: String = "event:crowd", lane: Lane = .bulk, expiresIn seconds: Double = 600) async throws -> UUID {
        let id: UUID = try await postgres.query("SELECT id FROM topics WHERE name = \(topic)")[0].decode("id")
        return try await push(.sample(.newPhotos, topic: topic, topicID: id), to: .topic(topic), lane: lane, expiresIn: seconds)
    }

    /// Counts the deliveries of a notification by state.
    func states(of notificationID: UUID) async throws -> [String: Int] {
        let rows = try await postgres.query(
            "SELECT state, count(*) AS n FROM delivery_ledger WHERE notification_id = \(notificationID) GROUP BY state")
        var states: [String: Int] = [:]
        for row in rows { states[try row.decode("state")] = Int(try row.decode("n", as: Int64.self)) }
        return states
    }

    /// Waits until a notification has ended, and counts its deliveries by state.
    @discardableResult
    func settled(
        _ notificationID: UUID, within limit: Duration = .seconds(120)
    ) async throws -> [String: Int] {
        let condition = "notification \(notificationID) has ended"
        return try await eventually(within: limit, condition) {
            let rows = try await postgres.query("SELECT state FROM notifications WHERE id = \(notificationID)")
            let state = try rows.first?.decode("state", as: String.self)
            return ["settled", "skipped", "expired"].contains(state) ? try await states(of: notificationID) : nil
        }
    }

    /// Counts the installations by state.
    func installStates() async throws -> [String: Int] {
        let rows = try await postgres.query("SELECT state, count(*) AS n FROM push_installs GROUP BY state")
        var states: [String: Int] = [:]
        for row in rows { states[try row.decode("state")] = Int(try row.decode("n", as: Int64.self)) }
        return states
    }
}
