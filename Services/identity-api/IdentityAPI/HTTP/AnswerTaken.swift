internal import NIOCore

/// Said by the code that writes a long answer: it goes on when the connection has taken what there is of it.
struct AnswerTaken: Sendable {}

extension APIRequestContext {
    /// Waits until the connection has taken all that was written to it.
    ///
    /// A body's writer waits for a connection that has said it is full; one whose event loop has had no time to say so is
    /// handed piece after piece, until the whole answer is in memory, after its slot was given back.
    ///
    /// - Throws: When the connection is closed. Cancelling closes it: half an answer is of no use to anybody.
    func answerTaken() async throws {
        let promise = channel.eventLoop.makePromise(of: Void.self)
        channel.triggerUserOutboundEvent(AnswerTaken(), promise: promise)
        try await withTaskCancellationHandler {
            try await promise.futureResult.get()
        } onCancel: {
            channel.close(promise: nil)
        }
    }
}
