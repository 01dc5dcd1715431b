public import WireFormat

/// Handles events one at a time, several at the same time; for work that takes long or touches more than the database.
///
/// A message is delivered at least once. The handler does its reads and its work first and then calls
/// ``HandlerContext/commit(_:)``, which marks the message and takes the effect in one transaction, so that a second delivery
/// has no second effect. When it returns, the message is acknowledged; when it throws, the message is delivered again later.
public protocol EventHandler<Body>: Sendable {
    associatedtype Body: Event

    /// Handles one event. If a handler returns without a commit, it had nothing to do; the message is marked as handled all the same.
    func handle(_ event: Envelope<Body>, _ context: HandlerContext) async throws
}
