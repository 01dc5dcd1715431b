public import RedisClient

/// A message that a handler could not handle.
public struct FailedDelivery: Sendable {
    /// The stream and the entry, for the log.
    public let stream: String
    public let entryID: EntryID
    /// How often the message was delivered, this time included.
    public let deliveryCount: Int
    /// Why it failed; a `WireFormatError` when the message cannot even be read.
    public let error: any Error
    /// Whether trying again is pointless because the message itself is at fault: it cannot be read.
    public let isUnreadable: Bool
}

/// What becomes of a message that failed.
public enum FailureDisposition: Sendable, Equatable {
    /// It stays pending and is delivered again when its idle time is up. Nothing is lost, and nothing else waits for it.
    case leavePending
}

/// Decides what becomes of messages that failed; the place where retry delays and dead letters belong.
public protocol FailurePolicy: Sendable {
    /// Called once for each failed delivery, after the handler's transaction was rolled back.
    func disposition(of failure: FailedDelivery) async -> FailureDisposition
}

/// Leaves every failed message pending: it comes again after ``EventConsumerConfiguration/claimMinIdle``, for ever.
public struct LeavePending: FailurePolicy {
    public init() {}

    public func disposition(of failure: FailedDelivery) async -> FailureDisposition { .leavePending }
}
