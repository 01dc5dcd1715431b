internal import Accounts
internal import BlobStore
internal import FoundationEssentials
internal import PostgresClient
internal import ServiceDefaults
internal import Topics
internal import WireFormat

/// Erases what identity-api keeps of a user: sessions with their photos, sign-ins, memberships, messages, blocks, contacts and reports.
///
/// A topic of the user passes to the member of longest standing, and ends with its last member.
struct IdentityEraser: UserEraser {
    private static let sliceSize = 100

    /// The store of photos of sessions.
    let photos: any BlobStore

    func erase(_ erasure: Erasure, _ ledger: ErasureLedger) async throws -> Bool {
        let userID = erasure.userID
        try await eraseSessions(for: erasure, ledger)
        guard erasure.scope == .account else { return true }
        try await leaveTopics(userID, ledger)
        try await ledger.step("idempotency_keys") { try await AccountErasureRepository($0).deleteSignInAnswers(for: erasure) }
        try await AccountErasureRepository(ledger.postgres).forgetSender(userID)
        for table in AccountErasureRepository.tables {
            while try await ledger.step(
                table.name,
                {
                    try await AccountErasureRepository($0).deleteSlice(of: table, userID: userID)
                }) == AccountErasureRepository.sliceSize
            {
                try Task.checkCancellation()
            }
        }
        return true
    }

    /// Deletes the photos of sessions, and the sessions unless only the face is erased.
    private func eraseSessions(for erasure: Erasure, _ ledger: ErasureLedger) async throws {
        var last: UUID?
        while true {
            let ids = try await AccountErasureRepository(ledger.postgres).sessions(for: erasure, after: last, limit: Self.sliceSize)
            for id in ids { try await photos.deleteAll(under: BlobFolder.sessions.prefix(of: id)) }
            switch erasure.scope {
            case .account:
                try await ledger.step("sessions") { try await AccountErasureRepository($0).deleteSessions(ids) }
            case .face: try await SessionRepository(ledger.postgres).photosDeleted(ids)
            }
            guard ids.count == Self.sliceSize else { return }
            last = ids.last
        }
    }

    private func leaveTopics(_ userID: UUID, _ ledger: ErasureLedger) async throws {
        let repository = TopicRepository(ledger.postgres.withTimeLimit(Erasure.statementTimeout))
        while true {
            let topics = try await repository.memberships(of: userID, limit: Self.sliceSize).map(\.topic.name)
            for topic in topics {
                try Task.checkCancellation()
                try await ledger.step("topic_members") { transaction in
                    let change = try await TopicRepository(transaction).remove(userID, from: topic, by: userID)
                    return change == .done(changed: true) ? 1 : 0
                }
            }
            guard topics.count == Self.sliceSize else { return }
        }
    }
}
