public import FoundationEssentials

/// The request and the message that a task works for; its log lines name them.
///
/// A task-local value of its own, not a part of the instrumentation context: that is a dictionary, which would be allocated for every
/// message, and is only needed where spans are recorded.
public struct WorkContext: Sendable {
    /// The context of the current task.
    @TaskLocal public static var current: WorkContext?

    /// The id of the HTTP request that caused the work.
    public let requestID: String?
    /// The id of the message that is being handled.
    public let messageID: UUID?
    /// The W3C trace parent of the work, which names its trace where the task is in no span.
    public let traceparent: String?

    /// Creates the context of a task that a request, a message or both have caused; `traceparent` is as W3C writes it.
    public init(requestID: String?, messageID: UUID? = nil, traceparent: String?) {
        self.requestID = requestID
        self.messageID = messageID
        self.traceparent = traceparent
    }
}
