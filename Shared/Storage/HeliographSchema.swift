public import PostgresClient

/// The database of the whole system, as numbered steps.
///
/// A step that has been released is never edited: a change is a new step. Every step can be undone.
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

    /// The channel on which a commit with new rows in `outbox` rings, for `LISTEN`.
    public static let outboxChannel = "heliograph_outbox"
}
