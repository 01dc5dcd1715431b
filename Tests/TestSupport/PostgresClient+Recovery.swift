public import Accounts
public import FoundationEssentials
public import PostgresClient

extension PostgresClient {
    /// Starts the recovery of an account by the e-mail that it has.
    public func startRecovery(id: UUID = UUID(), with face: NewFaceTemplate, consent: Consent? = nil) async throws {
        try await withTransaction { transaction in
            try await SignInRepository(transaction).lock(of: face.userID)
            let lookups = try await transaction.query("SELECT lookup FROM email_lookups WHERE user_id = \(face.userID)")
            try await PendingEnrolmentRepository(transaction).startRecovery(
                id: id, face: face, photos: [], emailLookups: try lookups.column("lookup"), consent: consent)
        }
    }
}
