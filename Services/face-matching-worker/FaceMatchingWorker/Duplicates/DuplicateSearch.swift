internal import Accounts
internal import AsyncPrimitives
internal import FaceEngine
internal import FoundationEssentials
internal import HeliographCrypto
internal import Metrics
internal import PostgresClient

/// Finds the accounts, and the sign-ups that wait for their proof, that have the face of a sign-up.
///
/// Its steps and their number do not depend on the result: a sender of photos with an unproven e-mail must not learn from the duration
/// whether the face is known. The distance of two faces does not leave this type.
struct DuplicateSearch: Sendable {
    /// What was found, and up to which state of the database.
    struct Findings: Sendable {
        fileprivate let users: Set<UUID>
        fileprivate let position: FacePosition
    }

    let feed: FaceIndexFeed
    let postgres: PostgresClient
    let sealer: Sealer

    /// Searches all faces that are committed now.
    func findings(on face: EnrolledFace) async throws -> Findings {
        let start = ContinuousClock.now
        let position = try await feed.refresh()
        let numbers = await feed.index.candidates(for: FaceCode(face))
        let users = try await matching(face, numbers, postgres)
        Timer(label: "face_duplicate_search_seconds").recordNanoseconds(Int64((ContinuousClock.now - start) / .nanoseconds(1)))
        return Findings(users: users, position: position)
    }

    /// Completes a search in the transaction that stores the face: if two sign-ups with the same face search at the same time, the one that
    /// commits later finds the other. Call it before rows are locked.
    func complete(_ findings: Findings, on face: EnrolledFace, in transaction: PostgresTransaction) async throws -> [UUID] {
        try await FaceDuplicateRepository(transaction).lock()
        let changes = try await FaceChangeRepository(transaction).changes(since: findings.position)
        guard !changes.isReset else { throw FacesReset() }
        let numbers = changes.added.filter { !findings.position.seen.contains($0) }
        return try await Array(findings.users.union(matching(face, numbers, transaction)))
    }

    private func matching(_ face: EnrolledFace, _ numbers: [Int64], _ db: some PostgresQueryable) async throws -> Set<UUID> {
        let faces = try await FaceChangeRepository(db).faces(of: FaceIndexFeed.model, numbers: numbers)
        let matching = faces.filter { other in
            guard let template = FaceIndexFeed.template(of: other, sealer) else { return false }
            return face.resembles(template)
        }
        return Set(matching.map(\.userID))
    }
}

/// Thrown when the database went back to an earlier state during a search: the session is examined again.
struct FacesReset: Error {}
