public import FoundationEssentials
internal import PostgresClient
public import WireFormat

/// One push of one notification to one installation: a row of `deliveries`.
public struct Delivery: Sendable, Equatable {
    /// Where a delivery is: `pending → accepted | dead | failed | expired | skipped`, with `sending` between when it is not
    /// sent for the first time.
    public enum State: String, Sendable, CaseIterable {
        case pending, sending, accepted, dead, failed, expired, skipped

        /// Whether the state is final.
        public var isTerminal: Bool { self != .pending && self != .sending }
    }

    /// The id; what events carry.
    public let id: UUID
    /// What is told.
    public let notificationID: UUID
    /// To which installation; it may be gone by now.
    public let installID: UUID
    /// The installation's generation this push is meant for.
    public let generation: Int64
    /// Where it is.
    public let state: State
    /// How often it was sent; what is on its way for the first time counts when that has ended.
    public let attempt: Int
    /// When somebody may take it who looks for it: put off until then, or the end of its sender's lease while it is `sending`;
    /// `nil` when it has ended, or waits for its first try.
    public let dueAt: Date?
    /// The name FCM answered with.
    public let fcmName: String?
    /// FCM's error code, or why it was skipped.
    public let code: String?
    /// When it was addressed.
    public let createdAt: Date
    /// When it ended.
    public let settledAt: Date?

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

/// A delivery to insert; it starts as `pending`.
public struct NewDelivery: Sendable {
    /// The id.
    public var id: UUID
    /// What is told.
    public var notificationID: UUID
    /// To which installation.
    public var installID: UUID
    /// The installation's generation.
    public var generation: Int64

    /// Addresses a notification to an installation.
    public init(id: UUID, notificationID: UUID, installID: UUID, generation: Int64) {
        self.id = id
        self.notificationID = notificationID
        self.installID = installID
        self.generation = generation
    }
}

/// How a delivery ended.
public struct DeliverySettlement: Sendable {
    /// The delivery.
    public var id: UUID
    /// How it ended.
    public var outcome: DeliveryOutcome
    /// The name FCM answered with.
    public var fcmName: String?
    /// FCM's error code, or why it was skipped.
    public var code: String?
    /// Which attempt it ended with.
    public var attempt: Int
    /// The installation's generation that was sent to; `nil` for that it was addressed to.
    public var generation: Int64?
    /// When FCM was asked, by the sender's clock; `nil` when it was not. It is not stored.
    public var sentAt: Date?

    /// Describes an end.
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

/// That a delivery is to be sent later, by whoever finds it due.
public struct DeliveryPostponement: Sendable {
    /// The delivery.
    public var id: UUID
    /// The ``ClaimedDelivery/attempt`` that is given up: a sender that was taken for dead changes nothing.
    public var attempt: Int
    /// The time from now until it is due.
    public var delay: Duration
    /// FCM's error code or why it was not sent, kept for the operator.
    public var code: String
    /// Whether the attempt counts; not when nothing was sent.
    public var countsAsAttempt: Bool
    /// Whether the attempt may have reached the phone; kept until the delivery ends.
    public var mayHaveArrived: Bool

    /// Describes a postponement.
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
