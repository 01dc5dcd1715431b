internal import CLibCurl
internal import Synchronization

/// Passes calls and cancellations from callers to the client's thread; the only state that both sides share.
final class HTTP2Mailbox: Sendable {
    typealias Completion = @Sendable (Result<HTTPClientResponse, HTTPClientError>) -> Void

    /// A request with its completion, not yet taken by the client's thread.
    struct PostedCall: Sendable {
        let id: UInt64
        let request: HTTP2Request
        let body: [UInt8]
        let completion: Completion
    }

    /// Everything that the thread takes from the mailbox at once.
    struct Batch: Sendable {
        /// In the order of their ids.
        var calls: [PostedCall] = []
        var cancellations: [UInt64] = []
        var connectResults: [Result<CurlSocket, HTTPClientError>] = []

        /// Removes all items and keeps the capacity.
        mutating func removeAll() {
            calls.removeAll(keepingCapacity: true)
            cancellations.removeAll(keepingCapacity: true)
            connectResults.removeAll()
        }
    }

    private struct State {
        var batch = Batch()
        var lastID: UInt64 = 0
        /// Whether an item was posted that the thread has not taken.
        var hasUnread = false
        /// Whether the thread sleeps, or is about to.
        var isAsleep = false
        var shutdown = ClientShutdown()
        /// Whether the thread has taken its last batch; later posts are dropped.
        var isSealed = false
        /// The address of the multi handle that the thread sleeps in, while it exists. `curl_multi_wakeup` is the only function
        /// of it that another thread may call.
        var multiAddress: UInt?
    }

    /// The number of connections opened since it was last reset.
    let connectionsOpened = Atomic(0)
    private let inFlight = Atomic(0)
    private let state = Mutex(State())
    private let maxRequestsInFlight: Int

    init(maxRequestsInFlight: Int) {
        self.maxRequestsInFlight = maxRequestsInFlight
    }

    /// Posts a call and returns its id; when the client is closing or full, fails the call at once and returns 0.
    func start(_ request: HTTP2Request, body: [UInt8], completion: @escaping Completion) -> UInt64 {
        var id: UInt64 = 0
        let refusal: HTTPClientError? = state.withLock { state in
            if state.shutdown.refusesCalls { return .shutDown }
            if inFlight.load(ordering: .relaxed) >= maxRequestsInFlight {
                return HTTPClientError(.notSent, mayHaveReachedServer: false, "too many requests are in flight")
            }
            inFlight.add(1, ordering: .relaxed)
            state.lastID += 1
            id = state.lastID
            state.batch.calls.append(PostedCall(id: id, request: request, body: body, completion: completion))
            Self.wake(&state)
            return nil
        }
        if let refusal { completion(.failure(refusal)) }
        return id
    }

    /// Posts the cancellation of a call; it is ignored when the call has ended.
    func cancel(_ id: UInt64) {
        state.withLock { state in
            guard !state.isSealed else { return }
            state.batch.cancellations.append(id)
            Self.wake(&state)
        }
    }

    /// Posts the result of an attempt to connect; when the client is closed, the result is dropped, which closes the connection.
    func post(_ result: Result<CurlSocket, HTTPClientError>) {
        state.withLock { state in
            guard !state.isSealed else { return }
            state.batch.connectResults.append(result)
            Self.wake(&state)
        }
    }

    /// Begins the shutdown; a second call may only shorten the grace.
    func close(grace: Duration) {
        state.withLock { state in
            state.shutdown.begin(grace: grace)
            Self.wake(&state)
        }
    }

    func waitUntilClosed() async {
        await withCheckedContinuation { continuation in
            let isClosed = state.withLock { $0.shutdown.isClosed(orAdd: continuation) }
            if isClosed { continuation.resume() }
        }
    }

    /// Wakes the thread if it sleeps; a thread that is awake checks the mailbox before it sleeps.
    private static func wake(_ state: inout State) {
        state.hasUnread = true
        guard state.isAsleep, let address = state.multiAddress else { return }
        state.isAsleep = false
        curl_multi_wakeup(UnsafeMutableRawPointer(bitPattern: address))
    }

    // MARK: The thread's side

    func open(multi: UnsafeMutableRawPointer) {
        state.withLock { $0.multiAddress = UInt(bitPattern: multi) }
    }

    /// Returns whether the thread may sleep; if so, the next post wakes it.
    func mayFallAsleep() -> Bool {
        state.withLock { state in
            state.isAsleep = !state.hasUnread
            return state.isAsleep
        }
    }

    /// Swaps an empty batch for the posted one. Returns the time at which calls in flight must be failed, or nil before a
    /// shutdown begins.
    func take(into batch: inout Batch) -> ContinuousClock.Instant? {
        state.withLock { state in
            swap(&state.batch, &batch)
            state.hasUnread = false
            state.isAsleep = false
            return state.shutdown.deadline
        }
    }

    func connectionOpened() { connectionsOpened.add(1, ordering: .relaxed) }

    func callEnded() { inFlight.subtract(1, ordering: .relaxed) }

    /// Seals the mailbox and returns the last batch. The thread is not woken any more, so the multi handle may be freed.
    func close() -> Batch {
        state.withLock { state in
            state.multiAddress = nil
            state.isSealed = true
            defer { state.batch = Batch() }
            return state.batch
        }
    }

    /// Resumes the tasks that wait for the end of the thread.
    func markClosed() {
        let waiters = state.withLock { $0.shutdown.close() }
        for waiter in waiters { waiter.resume() }
    }
}
