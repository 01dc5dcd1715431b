/// A message to a listener of a channel.
public struct PostgresNotification: Sendable, Hashable {
    /// The kind of a notification.
    public enum Kind: Sendable, Hashable {
        /// The channel was notified.
        case message
        /// Listening has begun, for the first time or again after a broken connection; earlier notifications were not received.
        case listening
    }

    /// Whether the channel was notified, or listening to it has begun.
    public let kind: Kind
    /// The name of the channel, as it was given to ``PostgresClient/notifications(on:)``.
    public let channel: String
    /// The payload of the sender; empty for ``Kind/listening``.
    public let payload: String
}

/// The notifications of one channel, across broken connections; the sequence ends when the client shuts down.
///
/// It buffers ``PostgresConfiguration/maxBufferedNotifications`` and then drops the oldest.
public struct PostgresNotifications: AsyncSequence, Sendable {
    /// Messages to the channel, and marks of where listening began.
    public typealias Element = PostgresNotification

    let stream: AsyncStream<PostgresNotification>

    /// Creates an iterator; each notification goes to only one of them.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(base: stream.makeAsyncIterator())
    }

    /// Iterates over the notifications of one channel.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var base: AsyncStream<PostgresNotification>.AsyncIterator

        /// Waits for the next notification; nil when the client shut down or the task was cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> PostgresNotification? {
            await base.next(isolation: actor)
        }
    }
}
