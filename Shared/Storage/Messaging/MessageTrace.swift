public import FoundationEssentials
public import WireFormat

/// Everything the database knows of one HTTP request: what it made, what was published for it, and who handled that when.
public struct MessageTrace: Sendable {
    /// A message and what became of it.
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
        /// What kind of event it is.
        public let type: EventType
        /// The stream it belongs in.
        public let stream: String
        /// The id of the thing it is about.
        public let key: String
        /// Where it is.
        public let state: OutboxState
        /// When the transaction that caused it was made.
        public let createdAt: Date
        /// When it was published last; nil when it never was.
        public let publishedAt: Date?
        /// How often it was published; more than once when a stream lost it.
        public let publications: Int
        /// The entry of the stream that the last publication became.
        public let entryID: String?
        /// When it was handled by all, became a dead letter or was given up; nil while it is open.
        public let settledAt: Date?
        /// The groups that have to handle it, in alphabetical order.
        public let handlings: [Handling]
    }

    /// An image job, and what was asked of generators for it.
    public struct TracedImageJob: Sendable {
        /// The job, also one that its user deleted.
        public let job: ImageJob
        /// The calls of generators, oldest first.
        public let attempts: [ImageAttempt]
    }

    /// The messages, in the order in which they were made.
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
