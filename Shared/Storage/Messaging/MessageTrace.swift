public import FoundationEssentials
public import WireFormat

/// All rows of one HTTP request: its resources, its messages, and the times at which consumer groups handled them.
public struct MessageTrace: Sendable {
    /// A message and its handling.
    public struct Message: Sendable {
        /// A group that handled a message.
        public struct Handling: Sendable, Equatable {
            /// The consumer group.
            public let group: String
            /// When its effect was committed; nil while it is not.
            public let handledAt: Date?
        }

        /// The message's id.
        public let id: UUID
        /// The event type.
        public let type: EventType
        /// The stream.
        public let stream: String
        /// The id of its subject.
        public let key: String
        /// The state.
        public let state: OutboxState
        /// When the transaction that appended it began.
        public let createdAt: Date
        /// When it was last published; nil if never.
        public let publishedAt: Date?
        /// The number of publications; more than one when a stream lost it.
        public let publications: Int
        /// The stream entry of the last publication.
        public let entryID: String?
        /// When all groups had handled it, it became a dead letter, or it expired; nil while it is open.
        public let settledAt: Date?
        /// The groups that have to handle it, in alphabetical order.
        public let handlings: [Handling]
    }

    /// An image job and its generator calls.
    public struct TracedImageJob: Sendable {
        /// The job, even if its user has deleted it.
        public let job: ImageJob
        /// The generator calls, oldest first.
        public let attempts: [ImageAttempt]
    }

    /// The messages, in the order in which they were appended.
    public let messages: [Message]
    /// The face sessions they are about.
    public let sessions: [Session]
    /// The image jobs they are about.
    public let imageJobs: [TracedImageJob]
    /// The notifications they are about.
    public let notifications: [NotificationRecord]
    /// The deliveries of those notifications.
    public let deliveries: [Delivery]
}
