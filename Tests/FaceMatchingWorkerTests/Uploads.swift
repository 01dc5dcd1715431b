import Accounts
import BlobStore
import Foundation
import HeliographCrypto
import NIOCore
import PostgresClient
import TestSupport
import WireFormat

/// Stores photos and sessions as identity-api does.
struct Uploads {
    /// A photo of an upload.
    struct Photo {
        let pose: SessionPhoto.Pose
        let file: [UInt8]
    }

    let postgres: PostgresClient
    let blobs: any BlobStore

    /// What the sender of a sign-up has proven.
    enum Proof {
        /// Nothing: an e-mail that was only named.
        case none
        /// The e-mail.
        case email
        /// The e-mail, of an account that is to be recovered.
        case recovery
        /// The account, by an access token of this sign-in.
        case account(UUID?)
    }

    /// Stores an upload and returns the session's id; nothing is published.
    ///
    /// - Parameters:
    ///   - user: The account, which has an e-mail of its own, or the id that it gets.
    ///   - attemptKey: The key of the e-mail of a sign-in; by default one for each user.
    ///   - otherAttemptKeys: The same under other lookup keys.
    ///   - retaken: The failed session whose photos it retakes, with the proof of that session.
    func store(
        _ event: EkycEvent, _ photos: [Photo], user: UUID, attemptKey: UUID? = nil, otherAttemptKeys: [UUID] = [], proof: Proof = .email,
        consent: ConsentedText? = nil, challenge: [LivenessPose]? = nil, processingTime: Duration? = nil,
        retaking retaken: (session: RetakenSession, verificationID: UUID?)? = nil
    ) async throws -> UUID {
        let id = UUID()
        var stored: [SessionPhoto] = []
        for (index, photo) in photos.enumerated() {
            let key = "ekyc/\(id.wireString)/\(index)"
            try await blobs.write(try BlobKey(key)) { try await $0.append(ByteBuffer(bytes: photo.file)) }
            stored.append(SessionPhoto(key: key, pose: photo.pose, sha256: Hex.encode(SHA256.hash(photo.file))))
        }
        var session = NewSession(id: id, userID: user, event: event, tokenHash: SecureRandom.bytes(32), photos: stored)
        let email = SealedEmail(lookup: SHA256.hash("\(user)"), sealed: [1, 2, 3])
        switch (event, proof) {
        case (.signIn, _):
            session.attemptKey = attemptKey ?? user
            session.otherAttemptKeys = otherAttemptKeys
        case (.signUp, .none): session.email = email
        case (.signUp, _) where retaken != nil: session.verificationID = retaken?.verificationID
        case (.signUp, .email): session.verificationID = try await verify(email, for: user)
        case (.signUp, .recovery):
            session.verificationID = try await verify(email, for: UUID())
            session.isRecovery = true
        case (.signUp, .account(let signIn)):
            session.authorised = true
            session.authorisedBy = signIn
        }
        session.consent = consent
        session.challenge = challenge
        session.retaken = retaken?.session
        if let processingTime { session.processingTime = processingTime }
        try await SessionRepository(postgres).insert(session)
        return id
    }

    /// Stores a verification whose code was entered.
    private func verify(_ email: SealedEmail, for accountID: UUID) async throws -> UUID {
        let new = NewEmailVerification(purpose: .registration, accountID: accountID, email: email)
        try await postgres.withTransaction { transaction in
            _ = try await EmailVerificationRepository(transaction).insert(new)
            _ = try await EmailVerificationRepository(transaction).verify(id: new.id)
        }
        return new.id
    }
}

/// The photos that `make setup` downloads.
enum Photos {
    static func read(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: try PackageRoot.file(".cache/photos/\(name).jpg"))))
    }

    static func signUp() throws -> [Uploads.Photo] {
        let poses: [SessionPhoto.Pose] = [.left, .right, .front]
        return try poses.flatMap { pose in
            try (1...3).map { .init(pose: pose, file: try read("person-a/\(pose.rawValue)-\($0)")) }
        }
    }

    static func signIn(_ person: String) throws -> [Uploads.Photo] {
        try (1...3).map { .init(pose: .any, file: try read("\(person)/sign-in-\($0)")) }
    }
}
