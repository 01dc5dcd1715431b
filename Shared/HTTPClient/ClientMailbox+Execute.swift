internal import Synchronization

/// The part of the clients' interfaces that suspends.
extension ClientMailbox {
    /// Starts the thread of the client, which ends when `run` returns.
    func startThread(_ run: @escaping @Sendable (ClientMailbox) -> Void) {
        let isStarted = CurlThread.start {
            run(self)
            self.markClosed()
        }
        precondition(isStarted, "cannot create a thread for an HTTP client")
    }

    /// Posts a call and returns its response, whatever its status; a cancellation of the task cancels the call.
    func execute(_ request: Request) async throws(HTTPClientError) -> HTTPClientResponse {
        if Task.isCancelled { throw .cancelledBeforehand }
        let id = CallID()
        let result: Result<HTTPClientResponse, HTTPClientError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                id.value.store(start(request) { continuation.resume(returning: $0) }, ordering: .sequentiallyConsistent)
                // When the task was cancelled before the id was stored, its handler found no id.
                if Task.isCancelled { cancel(id) }
            }
        } onCancel: {
            cancel(id)
        }
        return try result.get()
    }

    private func cancel(_ id: CallID) {
        let id = id.value.load(ordering: .sequentiallyConsistent)
        if id > 0 { cancel(id) }
    }

    /// Refuses new calls, gives those in flight the grace, and returns when the thread has ended.
    func shutdown(grace: Duration) async {
        close(grace: grace)
        await waitUntilClosed()
    }
}

/// Holds the id of a call for the cancellation handler; 0 until the call is started.
private final class CallID: Sendable {
    let value = Atomic<UInt64>(0)
}
