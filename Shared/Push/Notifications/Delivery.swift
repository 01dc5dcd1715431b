public import FoundationEssentials
internal import PostgresClient
public import WireFormat

/// One push of one notification to one installation: a row of `delivery_ledger`.
public struct Delivery: Sendable, Equatable {
    /// The state of a delivery: `pending → accepted | dead | failed | expired | skipped`, with `sending` in between for later
    /// attempts.
    public enum State: String, Sendable, CaseIterable {
        case pending, sending, accepted, dead, failed, expired, skipped

        /// Whether the state is final.
        public var isTerminal: Bool { self != .pending && self != .sending }
    }

    /// The id, as in events.
    public let id: UUID
    /// The notification.
    public let notificationID: UUID
    /// The installation; it may have been deleted.
    public let installID: UUID
    /// The installation's generation that the push is meant for.
    public let generation: Int64
    /// The state.
    public let state: State
    /// The number of attempts; the first one is counted when it has ended.
    public let attempt: Int
    /// When it can be claimed as due: the time to which it is deferred, or the end of its sender's lease while it is `sending`;
    /// `nil` when it is settled, or was never attempted.
    public let dueAt: Date?
    /// The message name in FCM's answer.
    public let fcmName: String?
    /// FCM's error code, or the reason it was skipped.
    public let code: String?
    /// When it was created.
    public let createdAt: Date
    /// When it was settled.
    public let settledAt: Date?

    /// The columns that ``init(row:)`` reads.
    static let columns =
        "id, notification_id, install_id, generation, state, attempt, due_at, fcm_name, code, created_at, settled_at"

    init(row: PostgresRow) throws(PostgresError) {
        id = try row.decode("id")
        notificationID = try row.decode("notification_id")
        installID = try row.decode("install_id")
        generation = try row.decode("generation")
        state = try row.decodeCase("state")
        attempt = Int(try row.decode("attempt", as: Int32.self))
        dueAt = try row.decode("due_at")
        fcmName = try row.decode("fcm_name")
        code = try row.decode("code")
        createdAt = try row.decode("created_at")
        settledAt = try row.decode("settled_at")
    }
}

/// The final outcome of a delivery.
public struct DeliverySettlement: Sendable {
    /// The delivery.
    public var id: UUID
    /// The outcome.
    public var outcome: DeliveryOutcome
    /// The message name in FCM's answer.
    public var fcmName: String?
    /// FCM's error code, or the reason it was skipped.
    public var code: String?
    /// The last attempt.
    public var attempt: Int
    /// The installation's generation that was sent to; `nil` for the delivery's own.
    public var generation: Int64?
    /// When the request to FCM was sent, by the sender's clock; `nil` when no request was sent. Not stored.
    public var sentAt: Date?

    /// Describes an outcome.
    public init(
        id: UUID, outcome: DeliveryOutcome, fcmName: String? = nil, code: String? = nil, attempt: Int = 0,
        generation: Int64? = nil, sentAt: Date? = nil
    ) {
        self.id = id
        self.outcome = outcome
        self.fcmName = fcmName
        self.code = code
        self.attempt = attempt
        self.generation = generation
        self.sentAt = sentAt
    }
}

/// A claimed delivery to give back and attempt later.
public struct DeliveryDeferral: Sendable {
    /// The delivery.
    public var id: UUID
    /// The ``ClaimedDelivery/attempt`` to give up: a sender that has lost its lease changes nothing.
    public var attempt: Int
    /// The time from now until it is due.
    public var delay: Duration
    /// FCM's error code or the reason it was not sent, kept for the operator.
    public var code: String
    /// Whether the attempt counts; false when no request was sent.
    public var countsAsAttempt: Bool
    /// Whether the attempt may have reached the phone; kept until the delivery is settled.
    public var mayHaveArrived: Bool

    /// Describes a deferral.
    public init(
        id: UUID, attempt: Int, delay: Duration, code: String, countsAsAttempt: Bool = true, mayHaveArrived: Bool = false
    ) {
        self.id = id
        self.attempt = attempt
        self.delay = delay
        self.code = code
        self.countsAsAttempt = countsAsAttempt
        self.mayHaveArrived = mayHaveArrived
    }
}
