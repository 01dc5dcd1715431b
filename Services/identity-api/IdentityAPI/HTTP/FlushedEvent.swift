internal import NIOCore

/// An outbound event by which the writer of a long response waits until the connection has flushed what was written so far.
struct FlushedEvent: Sendable {}

extension APIRequestContext {
    /// Waits until the connection has flushed everything that was written to it.
    ///
    /// A body's writer waits only for a connection that has reported that it is full. While its event loop has no time to report that, the
    /// writer would add piece after piece, until the whole response is in memory and its slot released.
    ///
    /// - Throws: When the connection is closed. Cancelling closes it: a partial response is useless.
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
