internal import CLibCurl
internal import Synchronization

/// Passes calls and cancellations from callers to the thread of a client; the only state that both sides share.
///
/// `Request` is the type of a caller's requests. `Connection` is the result of an attempt to connect; `Never` where libcurl connects.
final class ClientMailbox<Request: Sendable, Connection: Sendable>: Sendable {
    typealias Completion = @Sendable (Result<HTTPClientResponse, HTTPClientError>) -> Void

    /// A request with its completion.
    struct PostedCall: Sendable {
        /// Grows with each call of a client.
        let id: UInt64
        let request: Request
        /// To be called exactly once.
        let completion: Completion
    }

    /// Everything that the thread takes from the mailbox at once.
    struct Batch: Sendable {
        /// In the order of their ids.
        var calls: [PostedCall] = []
        var cancellations: [UInt64] = []
        var connectResults: [Result<Connection, HTTPClientError>] = []

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
        /// The time at which calls in flight must be failed; nil before the shutdown begins.
        var closeDeadline: ContinuousClock.Instant?
        /// Whether the thread has taken its last batch; later posts are dropped.
        var isSealed = false
        /// Whether the thread has ended.
        var isClosed = false
        /// The tasks that wait for the end of the thread.
        var waiters: [CheckedContinuation<Void, Never>] = []
        /// The address of the multi handle that the thread sleeps in, while it exists. `curl_multi_wakeup` is the only function
        /// of it that another thread may call.
        var multiAddress: UInt?
    }

    private let inFlight = Atomic(0)
    private let state = Mutex(State())
    private let maxRequestsInFlight: Int

    init(maxRequestsInFlight: Int) {
        self.maxRequestsInFlight = maxRequestsInFlight
    }

    /// Posts a call and returns its id; when the client is closing or full, fails the call at once and returns 0.
    func start(_ request: Request, completion: @escaping Completion) -> UInt64 {
        var id: UInt64 = 0
        let refusal: HTTPClientError? = state.withLock { state in
            if state.closeDeadline != nil { return .shutDown }
            if inFlight.load(ordering: .relaxed) >= maxRequestsInFlight {
                return HTTPClientError(.notSent, mayHaveReachedServer: false, "too many requests are in flight")
            }
            inFlight.add(1, ordering: .relaxed)
            state.lastID += 1
            id = state.lastID
            state.batch.calls.append(PostedCall(id: id, request: request, completion: completion))
            Self.wake(&state)
            return nil
        }
        if let refusal { completion(.failure(refusal)) }
        return id
    }

    /// Posts the cancellation of a call; it is ignored when the call has ended.
    func cancel(_ id: UInt64) { post { $0.cancellations.append(id) } }

    /// Posts the result of an attempt to connect; when the client is closed, the result is dropped, which closes the connection.
    func post(_ result: Result<Connection, HTTPClientError>) { post { $0.connectResults.append(result) } }

    private func post(_ add: @Sendable (inout Batch) -> Void) {
        state.withLock { state in
            guard !state.isSealed else { return }
            add(&state.batch)
            Self.wake(&state)
        }
    }

    /// Begins the shutdown; a second call may only shorten the grace.
    func close(grace: Duration) {
        state.withLock { state in
            let deadline = ContinuousClock.now + grace
            state.closeDeadline = min(state.closeDeadline ?? deadline, deadline)
            Self.wake(&state)
        }
    }

    func waitUntilClosed() async {
        await withCheckedContinuation { continuation in
            let isClosed = state.withLock { state in
                if !state.isClosed { state.waiters.append(continuation) }
                return state.isClosed
            }
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
        precondition(batch.calls.isEmpty && batch.cancellations.isEmpty, "the last batch was not processed")
        return state.withLock { state in
            swap(&state.batch, &batch)
            (state.hasUnread, state.isAsleep) = (false, false)
            return state.closeDeadline
        }
    }

    func callEnded() {
        let left = inFlight.subtract(1, ordering: .relaxed).newValue
        precondition(left >= 0, "a call ended twice")
    }

    /// Seals the mailbox and returns the last batch. The thread is not woken any more, so the multi handle may be freed.
    func seal() -> Batch {
        state.withLock { state in
            precondition(state.closeDeadline != nil && !state.isSealed, "a client ends once, after its shutdown began")
            state.multiAddress = nil
            state.isSealed = true
            defer { state.batch = Batch() }
            return state.batch
        }
    }

    /// Resumes the tasks that wait for the end of the thread.
    func markClosed() {
        let waiters = state.withLock { state in
            state.isClosed = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}
