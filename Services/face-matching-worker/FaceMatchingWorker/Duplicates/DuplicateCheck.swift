internal import Accounts
internal import FaceEngine
internal import FoundationEssentials
internal import PostgresClient

/// Applies the policy on duplicates to sign-ups.
struct DuplicateCheck: Sendable {
    let policy: DuplicatePolicy
    let search: DuplicateSearch

    /// Searches for others with the face; nil when the policy is not to look.
    func findings(on face: EnrolledFace) async throws -> DuplicateSearch.Findings? {
        guard policy != .off else { return nil }
        return try await search.findings(on: face)
    }

    /// Completes the search, in the transaction that is to store the face, before it locks rows.
    ///
    /// A sign-up without a proof is never refused here: what refuses it then is the proof.
    func result(
        of findings: DuplicateSearch.Findings?, on face: EnrolledFace, of session: Session, in transaction: PostgresTransaction
    ) async throws -> DuplicateResult {
        guard let findings else { return DuplicateResult(others: [], isRefused: false) }
        let others = try await search.complete(findings, on: face, in: transaction)
        let conflicts = try await FaceDuplicateRepository(transaction).conflicts(of: session.userID, with: others)
        let isRefused = policy == .refuse && isProven(session) && conflicts
        if isRefused { try await AuditRepository(transaction).append(entry(.refused, session)) }
        return DuplicateResult(others: others, isRefused: isRefused)
    }

    /// Stores the accounts with the face of a sign-up whose face is stored too. Call it for accepted sign-ups only: a refused one may have
    /// no account, and an erasure would not find its row.
    func record(_ result: DuplicateResult, of session: Session, in transaction: PostgresTransaction) async throws {
        guard policy != .off else { return }
        guard try await FaceDuplicateRepository(transaction).add(result.others, of: session.userID) > 0 else { return }
        try await AuditRepository(transaction).append(entry(.succeeded, session))
    }

    private func isProven(_ session: Session) -> Bool { session.authorised || session.verificationID != nil }

    private func entry(_ result: AuditResult, _ session: Session) -> AuditEntry {
        AuditEntry(
            .faceDuplicateFound, result, by: .system(FaceMatchingWorker.name), on: session.userID, object: session.id,
            requestID: session.requestID, detail: isProven(session) ? policy.rawValue : "awaits_verification",
            addressKey: session.origin.addressKey)
    }
}

/// The result of the search for others with the face of a sign-up.
struct DuplicateResult: Sendable {
    /// The accounts, and the sign-ups that wait for their proof, with the same face.
    let others: [UUID]
    /// Whether the sign-up fails.
    let isRefused: Bool
}
