import FoundationEssentials
import PostgresClient
import TestSupport
import Testing
import WireFormat

@testable import Accounts
@testable import Pictures
@testable import Push

/// Returns 32 deterministic bytes for a seed, in place of a hash.
func hash(_ seed: Int) -> [UInt8] {
    var random = SeededGenerator(seed: UInt64(bitPattern: Int64(seed)))
    return (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }
}

/// Gives a test a database of its own with every migration applied; its client and repositories are the variables below.
struct StorageTrait: TestTrait, TestScoping {
    @TaskLocal fileprivate static var current: PostgresClient?

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await withStorage { client in
            try await Self.$current.withValue(client) { try await function() }
        }
    }
}

extension Trait where Self == StorageTrait {
    static var storage: Self { Self() }
}

/// The client of the test's database.
var client: PostgresClient {
    guard let client = StorageTrait.current else { preconditionFailure("the test lacks the trait .storage") }
    return client
}

var deliveries: DeliveryRepository { DeliveryRepository(client) }
var faces: FaceTemplateRepository { FaceTemplateRepository(client) }
var installs: PushInstallRepository { PushInstallRepository(client) }
var jobs: ImageJobRepository { ImageJobRepository(client) }
var notifications: NotificationRepository { NotificationRepository(client) }
var quota: PushQuotaRepository { PushQuotaRepository(client) }
var sessions: SessionRepository { SessionRepository(client) }
var tokens: AccessTokenRepository { AccessTokenRepository(client) }

extension PostgresClient {
    /// Creates a user, and returns its id.
    func user(_ seed: Int = 1) async throws -> UUID { try await makeUser(emailLookup: hash(seed)).id }

    /// Registers in a transaction, as identity-api does.
    func register(_ registration: PushRegistration, _ userID: UUID) async throws -> RegisteredInstall {
        try await withTransaction { try await PushInstallRepository($0).register(registration, userID: userID) }
    }
}

extension PushInstallRepository {
    /// Gives an installation to a user with the value of a row, as a redeemed sign-in does.
    func bind(_ id: UUID, userID: UUID, seenAt: Date) async throws -> RegisteredInstall? {
        guard let value = try await registration(of: id, seenAt: seenAt) else { return nil }
        return try await register(value, userID: userID)
    }
}

extension PushRegistration {
    /// A registration of the installation `seed` with the token `value`.
    static func make(_ seed: Int, value: Int = 1, seenAt: Date = Date()) -> PushRegistration {
        PushRegistration(
            installationKey: hash(seed), kind: .token, valueSealed: [UInt8(value)], valueHash: hash(seed * 1000 + value),
            seenAt: seenAt)
    }
}

extension NewNotification {
    /// A notification, by default about a sign-in.
    static func make(
        dedupeKey: String = UUID().uuidString, content: PushContent = .sample(.signIn), recipient: NotificationRecipient = .session(UUID()),
        expiresAt: Date = Date(timeIntervalSinceNow: 3600)
    ) -> NewNotification {
        NewNotification(
            id: UUIDv7.generate(), dedupeKey: dedupeKey, content: content, recipient: recipient, lane: .urgent, expiresAt: expiresAt)
    }
}

extension NewDeliveryPage {
    /// A page of deliveries to installations, of the generation 1 and without users.
    static func make(_ notificationID: UUID, lane: Lane = .urgent, installs: [UUID] = [UUID()]) -> NewDeliveryPage {
        pages(
            of: notificationID, on: lane,
            to: installs.map { InstallAddress(id: $0, generation: 1, userID: nil, state: .active, suspectUntil: nil) })[0]
    }

    /// The ids of its deliveries.
    var deliveryIDs: [UUID] { (1...addresses.count).map { DeliveryPage.deliveryID($0, of: id) } }
}
