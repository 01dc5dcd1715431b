internal import FaceEngine
internal import FoundationEssentials
internal import HeliographCrypto
internal import PostgresClient
internal import Storage
internal import WireFormat

/// The outcome of a session, with the account that its push may be addressed to.
struct Settlement: Sendable {
    let outcome: SessionOutcome
    /// The account whose face was enrolled or recognised; nil when nothing of any account was changed or proven.
    var account: UUID?

    static func failed(_ reason: SessionReason) -> Settlement { Settlement(outcome: .failed(reason)) }
}

/// Writes the face of a sign-up, in the transaction that ends its session.
struct Enrolment {
    let sealer: Sealer
    let transaction: PostgresTransaction

    /// Enrols an accepted face: for the account whose bearer came with the photos, or for an e-mail without an account.
    func enrol(_ face: EnrolledFace, photoHashes: [[UInt8]], for session: Session) async throws -> Settlement {
        if session.authorised {
            guard try await isStillAuthorised(session) else { return .failed(.alreadyEnrolled) }
            try await FaceTemplateRepository(transaction).upsert(try sealed(face, for: session.userID))
            try await FacePhotoHashRepository(transaction).add(userID: session.userID, hashes: photoHashes)
            return Settlement(outcome: .succeeded, account: session.userID)
        }
        guard let email = session.email else { return .failed(.internal) }
        return try await enrol(face, photoHashes: photoHashes, for: email, as: session.userID)
    }

    /// Returns whether the sign-in whose bearer came with the photos is still valid: a logout or a revocation ends it. It cannot be
    /// ended until the transaction ends.
    private func isStillAuthorised(_ session: Session) async throws -> Bool {
        guard let signIn = session.authorisedBy else { return true }
        return try await AccessTokenRepository(transaction).hold(signIn: signIn, of: session.userID)
    }

    /// Creates an account for an e-mail and enrols its first face.
    ///
    /// When the account of the e-mail already has a face, the same statements run with the same outcome, and change nothing: the
    /// sender has proven nothing, and must not learn whether the account existed.
    private func enrol(
        _ face: EnrolledFace, photoHashes: [[UInt8]], for email: SessionEmail, as userID: UUID
    ) async throws -> Settlement {
        let users = UserRepository(transaction)
        let account = try await users.findOrCreate(id: userID, emailLookup: email.lookup, emailSealed: email.sealed).id
        let isFirst = try await FaceTemplateRepository(transaction).insertIfAbsent(try sealed(face, for: account))
        try await FacePhotoHashRepository(transaction).add(userID: account, hashes: isFirst ? photoHashes : [])
        return Settlement(outcome: .succeeded, account: isFirst ? account : nil)
    }

    private func sealed(_ face: EnrolledFace, for userID: UUID) throws -> NewFaceTemplate {
        NewFaceTemplate(
            userID: userID, modelID: face.modelID, pipelineVersion: Int(face.pipelineVersion),
            templateSealed: try sealer.seal(face.encoded(), context: SealingContext.faceTemplate(userID: userID)))
    }
}
