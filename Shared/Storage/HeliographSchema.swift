public import PostgresClient

/// The database schema of the whole system, as numbered migrations.
///
/// A released migration is never edited: a change is a new migration. Every migration can be undone.
public enum HeliographSchema {
    /// All migrations, in the order in which they are applied.
    public static let migrations: [Migration] = [
        .users, .sessions, .accessTokens, .faceTemplates, .pushInstalls, .notifications, .deliveries, .outbox, .inbox,
        .openSignIns, .attemptsAndPhotoAges, .dueDeliveries, .outboxLedger, .imageJobs, .idempotencyKeys, .topicsPhotos,
        .conversations, .pushLifecycle, .photoQuotas, .receipts, .pushSending, .pushLeases,
        .endedDeliveries, .notificationCauses, .pushInstallRates, .outboxBell,
        .deliveryPages, .pushInstallRace, .boundGeneration, .sessionAdmission, .sessionProofs,
        .topicInvitations, .resends,
    ]

    /// The `LISTEN` channel that a commit with new rows in `outbox` notifies.
    public static let outboxChannel = "heliograph_outbox"
}
