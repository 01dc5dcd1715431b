import Accounts
import FaceEngine
import Foundation
import HeliographCrypto
import Logging
import PostgresClient
import ServiceDefaults
import TestSupport
import WireFormat

@testable import FaceMatchingWorker
@testable import IdentityAPI

/// What the tries share: the client of the owner of the tables, the keys, and a face.
struct RaceWorld: Sendable {
    let owner: PostgresClient
    let keys: AccountKeys
    let sealer: Sealer
    let duplicates: DuplicateCheck
    let face: EnrolledFace

    init(owner: PostgresClient) throws {
        self.owner = owner
        func sealer(_ byte: UInt8) throws -> Sealer {
            Sealer(keyRing: try KeyRing(parsing: "k1:\(Base64.encode([UInt8](repeating: byte, count: 32)))"))
        }
        keys = AccountKeys(
            lookupKeys: try .test([UInt8](repeating: 1, count: 32)), accounts: try sealer(2), tokens: try sealer(3))
        self.sealer = try sealer(4)
        let feed = FaceIndexFeed(postgres: owner, sealer: self.sealer, logger: Logger(label: "races"))
        duplicates = DuplicateCheck(policy: .off, search: DuplicateSearch(feed: feed, postgres: owner, sealer: self.sealer))
        let descriptor = FaceDescriptor(normalising: [Float](repeating: 1, count: FaceDescriptor.count))
        face = EnrolledFace(left: [descriptor], right: [descriptor], front: [descriptor], isMirrored: false)
    }

    /// Whether a transaction of the database waits for a lock of another one.
    func isAnyWaiting() async throws -> Bool {
        try await owner.query(
            "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' LIMIT 1"
        ).first != nil
    }

    /// Whether a query returns a row.
    func exists(_ query: PostgresQuery) async throws -> Bool { try await !owner.query(query).isEmpty }

    /// An e-mail without an account.
    func newEmail() throws -> EmailAddress {
        guard let email = EmailAddress("race-\(UUID().wireString)@example.org") else { throw DeadlineExceeded(description: "no e-mail") }
        return email
    }

    /// Makes an account, with an e-mail or as one of an identity provider.
    func account(_ email: EmailAddress?) async throws -> UUID {
        let id = UUID()
        guard let email else {
            try await owner.execute("INSERT INTO users (id) VALUES (\(id))")
            return id
        }
        let sealed = try keys.sealed(email, of: id)
        return try await owner.makeUser(id: id, emailLookup: sealed.lookups[0], emailSealed: sealed.sealed).id
    }

    /// Signs in, and returns the pair and the hashes of its tokens.
    func signIn(_ user: UUID) async throws -> (pair: AccessToken, accessHash: [UInt8], refreshHash: [UInt8]) {
        let (access, refresh) = (SecureRandom.bytes(32), SecureRandom.bytes(32))
        let new = NewAccessToken(
            userID: user, sessionID: UUID(), accessHash: access, refreshHash: refresh, installationKey: nil, lifetimes: SignInLifetimes())
        return (try await AccessTokenRepository(owner).insert(new), access, refresh)
    }

    /// Asks for a change of an account's e-mail, and returns the verification whose code makes it.
    func askForChange(of user: UUID, by signIn: UUID) async throws -> UUID {
        let email = try keys.sealed(try newEmail(), of: user)
        let new = NewEmailVerification(purpose: .emailChange, accountID: user, signInID: signIn, email: email)
        try await owner.withTransaction { transaction in
            let mail = try await EmailVerificationRepository(transaction).insert(new)
            // Without its mail it has no attempt.
            _ = try await CodeMailRepository(transaction).publish(mail.id)
        }
        return new.id
    }

    /// Proves an e-mail, and returns the verification.
    func prove(_ email: EmailAddress, for user: UUID = UUID()) async throws -> UUID {
        let new = NewEmailVerification(purpose: .registration, accountID: user, email: try keys.sealed(email, of: user))
        try await owner.withTransaction { transaction in
            _ = try await EmailVerificationRepository(transaction).insert(new)
            _ = try await EmailVerificationRepository(transaction).verify(id: new.id)
        }
        return new.id
    }

    /// Has a recovery of an account wait whose time has come, and returns the sealed face.
    func dueRecovery(of user: UUID) async throws -> [UInt8] {
        let sealed = SecureRandom.bytes(40)
        let new = NewFaceTemplate(userID: user, modelID: face.modelID, pipelineVersion: 3, templateSealed: sealed)
        try await owner.startRecovery(with: new)
        try await owner.execute("UPDATE pending_enrolments SET due_at = now() - interval '1 second' WHERE user_id = \(user)")
        return sealed
    }
}
