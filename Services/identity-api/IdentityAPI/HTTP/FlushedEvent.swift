internal import NIOCore

/// An outbound event by which the writer of a long response waits until the connection has flushed what was written so far.
struct FlushedEvent: Sendable {}

extension APIRequestContext {
    /// Waits until the connection has flushed everything that was written to it.
    ///
    /// A body's writer waits for a connection that has said it is full; one whose event loop has had no time to say so is
    /// handed piece after piece, until the whole response is in memory, after its slot was released.
    ///
    /// - Throws: When the connection is closed. Cancelling closes it: half a response is of no use.
    func waitUntilFlushed() async throws {
        let promise = channel.eventLoop.makePromise(of: Void.self)
        channel.triggerUserOutboundEvent(FlushedEvent(), promise: promise)
        try await withTaskCancellationHandler {
            try await promise.futureResult.get()
        } onCancel: {
            channel.close(promise: nil)
        }
    }
}
