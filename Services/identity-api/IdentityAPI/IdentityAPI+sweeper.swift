internal import Accounts
internal import AsyncPrimitives
internal import BlobStore
internal import EventBus
internal import FoundationEssentials
internal import HeliographCrypto
internal import Logging
internal import PostgresClient
internal import Push
internal import Schema
internal import ServiceDefaults
internal import Topics
internal import WireFormat

extension IdentityAPI {
    /// The time that a worker has to delete the photos of a session it decided.
    private static let photoGracePeriod = Duration.seconds(60)
    /// The age from which photos belong to no session that is undecided or keeps them: each has ten minutes for its decision, and a
    /// series of retakes ten more.
    private static let photoLifetime = Duration.seconds(30 * 60)

    /// The pause between two looks at the partitions of the audit log, which are made two months ahead.
    private static let auditInterval = Duration.seconds(60 * 60)
    /// The pause between two counts of sealed values, and the age after which one instance samples the tables again.
    static let sealedValuesInterval = Duration.seconds(10 * 60)

    /// The sweeper of sessions and sign-ins with their photos, and of all other rows that identity-api writes and that expire.
    static func sweeper(
        postgres: PostgresClient, photos: any BlobStore, pseudonyms: SessionPseudonyms, sealers: [KeyPurpose: Sealer] = [:],
        placesPerAddress: Int = SessionAdmission.Limits().inFlightPerAddress, interval: Duration, logger: Logger,
        clock: any MonotonicClock = ContinuousClock()
    ) -> Sweeper {
        let overdue = OverdueSessions(
            postgres: postgres, blobs: photos, pseudonyms: pseudonyms, placesPerAddress: placesPerAddress)
        let sessions = SessionRepository(postgres)
        let sealedValues = SealedValueGauges(postgres: postgres, of: .identityAPI, sealers: sealers)
        return Sweeper(
            logger: logger, clock: clock,
            steps: [
                .batches("overdue_sessions", every: interval, logLevel: .notice) { try await overdue.expire(limit: $0) },
                .batches("waiting_sessions", every: interval) { try await overdue.fillTurns(limit: $0) },
                .each("session_photos", every: interval, id: \.sessionID) {
                    try await sessions.leftoverPhotos(gracePeriod: photoGracePeriod, limit: $0, except: $1)
                } delete: {
                    try await overdue.deletePhotos(of: $0.sessionID)
                },
                .batches("sessions", every: interval) { try await sessions.deleteExpired(limit: $0) },
                .batches("used_challenges", every: interval) { try await UsedChallengeRepository(postgres).deleteExpired(limit: $0) },
                .batches("used_device_proofs", every: interval) { try await UsedDeviceProofRepository(postgres).deleteExpired(limit: $0) },
                .batches("verifications", every: interval) { try await EmailVerificationRepository(postgres).deleteExpired(limit: $0) },
                .batches("code_mails", every: interval) { try await CodeMailRepository(postgres).deleteExpired(limit: $0) },
                .batches("wrong_codes", every: interval) { try await WrongCodeRepository(postgres).deleteExpired(limit: $0) },
                .batches("enrolments", every: interval) { try await PendingEnrolmentRepository(postgres).deleteExpired(limit: $0) },
                .batches("recoveries", every: interval, logLevel: .notice) { try await completeRecoveries(postgres, limit: $0) },
                .batches("sign_ins", every: interval) { try await endSignIns(postgres, limit: $0) },
                .batches("noticed_sign_ins", every: interval) { try await unregisterNoticed(postgres, limit: $0) },
                .batches("face_photo_hashes", every: interval) { try await FacePhotoHashRepository(postgres).deleteExpired(limit: $0) },
                .batches("installation_claims", every: interval) {
                    try await InstallHandOverRepository(postgres).deleteExpired(limit: $0)
                },
                .batches("idempotency_keys", every: interval) { try await IdempotencyRepository(postgres).deleteExpired(limit: $0) },
                .batches("messages", every: interval) { try await ConversationRepository(postgres).deleteExpired(limit: $0) },
                .batches("reads", every: interval) { try await ReceiptRepository(postgres).deleteExpiredReads(limit: $0) },
                .batches("presence", every: interval) { try await PresenceRepository(postgres).deleteExpired(limit: $0) },
                .batches("app_notifications", every: interval) {
                    try await AppNotificationRepository(postgres).deleteExpired(limit: $0)
                },
                .batches("erased_identities", every: interval) {
                    try await FederatedIdentityRepository(postgres).deleteExpiredErased(limit: $0)
                },
                .batches("exports", every: interval) { try await AccountExportRepository(postgres).deleteExpired(limit: $0) },
                .batches("reports", every: interval) { try await AbuseReportRepository(postgres).deleteExpired(limit: $0) },
                .batches("invitations", every: interval) { try await TopicRepository(postgres).deleteExpiredInvitations(limit: $0) },
                Sweeper.Step("audit_partitions", every: auditInterval) { try await AuditRepository(postgres).maintainPartitions() },
                Sweeper.Step("sealed_values", every: sealedValuesInterval) {
                    try await sealedValues.record(olderThan: sealedValuesInterval)
                    return 0
                },
                Sweeper.Step("stray_photos", every: interval, logLevel: .notice) {
                    try await photos.deleteStale(under: BlobFolder.sessions.prefix, olderThan: photoLifetime)
                },
            ])
    }

    /// Replaces the faces of accounts whose recoveries are due, ends all their sign-ins and mails their owners.
    private static func completeRecoveries(_ postgres: PostgresClient, limit: Int) async throws -> Int {
        try await postgres.withTransaction { transaction in
            let due = try await PendingEnrolmentRepository(transaction).completeRecoveries(limit: limit)
            for userID in due.outdated {
                try await RecoveryCancellation.cancel(of: userID, by: .system(name), detail: "email_changed", in: transaction)
            }
            for userID in due.completed {
                _ = try await SignInRepository(transaction).endAll(of: userID, isNoticed: true)
                let outbox = OutboxRepository(transaction)
                try await outbox.publish(MailRequested(kind: .recoveryCompleted, subjectID: userID))
                let alert = AccountAlertPush(.recoveryCompleted, of: userID).request(cause: UUID())
                try await outbox.publish(alert, expiresAt: alert.expiresAt)
                try await AuditRepository(transaction).append(AuditEntry(.recoveryCompleted, by: .system(name), on: userID))
            }
            return due.completed.count + due.outdated.count
        }
    }

    /// Unregisters devices that were told ten minutes ago why they are signed out.
    private static func unregisterNoticed(_ postgres: PostgresClient, limit: Int) async throws -> Int {
        try await postgres.withTransaction { transaction in
            let (signIns, removed) = try await SignInRepository(transaction).unregisterNoticed(limit: limit)
            DeviceRegistrar.countRemoved(removed.count)
            return signIns
        }
    }

    /// Deletes token pairs whose refresh token has expired, and unregisters devices that have no sign-in left.
    private static func endSignIns(_ postgres: PostgresClient, limit: Int) async throws -> Int {
        try await postgres.withTransaction { transaction in
            let ended = try await AccessTokenRepository(transaction).deleteExpired(limit: limit)
            DeviceRegistrar.countRemoved(try await SignInRepository(transaction).unregisterSignedOut(ended).count)
            return ended.count
        }
    }
}
