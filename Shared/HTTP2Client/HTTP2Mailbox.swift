internal import CLibCurl
internal import HTTPClient
internal import Synchronization

/// What callers leave for the client's thread, and the only thing both sides touch.
final class HTTP2Mailbox: Sendable {
    typealias Completion = @Sendable (Result<HTTPClientResponse, HTTPClientError>) -> Void

    /// A request and whom to tell its outcome.
    struct Call: Sendable {
        let id: UInt64
        let request: HTTP2Request
        let body: [UInt8]
        let completion: Completion
    }

    /// What the thread takes out in one go.
    struct Delivery: Sendable {
        /// In the order of their ids.
        var calls: [Call] = []
        var cancellations: [UInt64] = []
        var dialled: [Result<CurlSocket, HTTPClientError>] = []

        /// Empties it and keeps its memory for the next letters.
        mutating func removeAll() {
            calls.removeAll(keepingCapacity: true)
            cancellations.removeAll(keepingCapacity: true)
            dialled.removeAll()
        }
    }

    private struct State {
        var delivery = Delivery()
        var lastID: UInt64 = 0
        /// Whether something was posted that the thread has not taken.
        var hasMail = false
        /// Whether the thread sleeps, or is about to.
        var isAsleep = false
        var shutdown = ClientShutdown()
        /// Whether the thread has taken its last letters.
        var isSealed = false
        /// The address of the multi handle that the thread sleeps in, while it lives: waking it is the one call another
        /// thread may make.
        var multiAddress: UInt?
    }

    /// How many connections were opened.
    let connectionsOpened = Atomic(0)
    private let inFlight = Atomic(0)
    private let state = Mutex(State())
    private let requestsInFlightMax: Int

    init(requestsInFlightMax: Int) {
        self.requestsInFlightMax = requestsInFlightMax
    }

    /// Posts a call and returns its id, or answers it at once, with 0, when the client is closing or full.
    func start(_ request: HTTP2Request, body: [UInt8], completion: @escaping Completion) -> UInt64 {
        var id: UInt64 = 0
        let refusal: HTTPClientError? = state.withLock { state in
            if state.shutdown.refusesCalls { return .shutDown }
            if inFlight.load(ordering: .relaxed) >= requestsInFlightMax {
                return HTTPClientError(.notSent, mayHaveReachedServer: false, "too many requests are in flight")
            }
            inFlight.add(1, ordering: .relaxed)
            state.lastID += 1
            id = state.lastID
            state.delivery.calls.append(Call(id: id, request: request, body: body, completion: completion))
            Self.ring(&state)
            return nil
        }
        if let refusal { completion(.failure(refusal)) }
        return id
    }

    /// Posts that nobody waits for a call any more; calls that are done are not found and ignored.
    func cancel(_ id: UInt64) {
        state.withLock { state in
            guard !state.isSealed else { return }
            state.delivery.cancellations.append(id)
            Self.ring(&state)
        }
    }

    /// Posts the outcome of an attempt to connect; when the client is closed, the connection is closed with it.
    func post(_ dialled: Result<CurlSocket, HTTPClientError>) {
        state.withLock { state in
            guard !state.isSealed else { return }
            state.delivery.dialled.append(dialled)
            Self.ring(&state)
        }
    }

    /// Begins the shutdown; a second call may only shorten the grace.
    func close(grace: Duration) {
        state.withLock { state in
            state.shutdown.begin(grace: grace)
            Self.ring(&state)
        }
    }

    func waitUntilClosed() async {
        await withCheckedContinuation { continuation in
            let isClosed = state.withLock { $0.shutdown.isClosed(orTell: continuation) }
            if isClosed { continuation.resume() }
        }
    }

    /// Wakes the thread if it sleeps; while it is awake it looks here again before it sleeps.
    private static func ring(_ state: inout State) {
        state.hasMail = true
        guard state.isAsleep, let address = state.multiAddress else { return }
        state.isAsleep = false
        curl_multi_wakeup(UnsafeMutableRawPointer(bitPattern: address))
    }

    // MARK: The thread's side

    func open(multi: UnsafeMutableRawPointer) {
        state.withLock { $0.multiAddress = UInt(bitPattern: multi) }
    }

    /// Tells whether the thread may sleep: from now on it is woken.
    func mayFallAsleep() -> Bool {
        state.withLock { state in
            state.isAsleep = !state.hasMail
            return state.isAsleep
        }
    }

    /// Exchanges an emptied delivery for the full one, and returns when what is still in flight must be failed, once a
    /// shutdown has begun.
    func take(into delivery: inout Delivery) -> ContinuousClock.Instant? {
        state.withLock { state in
            swap(&state.delivery, &delivery)
            state.hasMail = false
            state.isAsleep = false
            return state.shutdown.deadline
        }
    }

    func connectionOpened() { connectionsOpened.add(1, ordering: .relaxed) }

    func callEnded() { inFlight.subtract(1, ordering: .relaxed) }

    /// Forbids waking from now on, so that the multi handle may be freed, and takes no more letters.
    func close() -> Delivery {
        state.withLock { state in
            state.multiAddress = nil
            state.isSealed = true
            defer { state.delivery = Delivery() }
            return state.delivery
        }
    }

    /// Tells those who wait that the thread is done.
    func closed() {
        let waiters = state.withLock { $0.shutdown.close() }
        for waiter in waiters { waiter.resume() }
    }
}
