/// Something a listener is told.
public struct PostgresNotification: Sendable, Hashable {
    /// Why the listener is told.
    public enum Kind: Sendable, Hashable {
        /// Somebody notified the channel.
        case message
        /// The server now listens, for the first time or again after a broken connection: what happened before was not heard.
        case listening
    }

    /// Why the listener is told.
    public let kind: Kind
    /// The channel.
    public let channel: String
    /// What the sender gave along; empty for ``Kind/listening``.
    public let payload: String
}

/// The notifications of one channel, across broken connections; it ends when the client shuts down.
///
/// It buffers ``PostgresConfiguration/maxBufferedNotifications`` and then drops the oldest.
public struct PostgresNotifications: AsyncSequence, Sendable {
    public typealias Element = PostgresNotification

    let stream: AsyncStream<PostgresNotification>

    /// Starts to iterate; only one iterator gets each notification.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(base: stream.makeAsyncIterator())
    }

    /// Waits for one notification after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var base: AsyncStream<PostgresNotification>.AsyncIterator

        /// The next notification; nil when the client shut down or the task was cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> PostgresNotification? {
            await base.next(isolation: actor)
        }
    }
}
