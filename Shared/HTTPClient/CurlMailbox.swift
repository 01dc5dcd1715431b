internal import CLibCurl
internal import Synchronization

/// What callers leave for libcurl's thread, and the only thing both sides touch.
final class CurlMailbox: Sendable {
    /// A request and whom to tell its outcome.
    struct Call: Sendable {
        let id: UInt64
        let request: HTTPClientRequest
        let continuation: CheckedContinuation<Result<HTTPClientResponse, HTTPClientError>, Never>
    }

    enum Command: Sendable {
        case start(Call)
        case cancel(UInt64)
    }

    /// What the thread takes out in one go.
    struct Delivery {
        var commands: [Command]
        /// Set once a shutdown has begun: when what is still in flight must be failed.
        var closeDeadline: ContinuousClock.Instant?
    }

    private struct State {
        var commands: [Command] = []
        var inFlight = 0
        var shutdown = ClientShutdown()
        /// The address of the multi handle while it lives, for waking its thread: the one call another thread may make.
        var multiAddress: UInt?
    }

    private let state: Mutex<State>
    private let requestsInFlightMax: Int

    init(requestsInFlightMax: Int) {
        self.requestsInFlightMax = requestsInFlightMax
        state = Mutex(State())
    }

    /// Posts a call, or answers it at once when the client is closing or full.
    func start(_ call: Call) {
        let refusal: HTTPClientError? = state.withLock { state in
            if state.shutdown.refusesCalls { return .shutDown }
            if state.inFlight >= requestsInFlightMax {
                return HTTPClientError(.notSent, mayHaveReachedServer: false, "too many requests are in flight")
            }
            state.inFlight += 1
            Self.post(.start(call), to: &state)
            return nil
        }
        if let refusal { call.continuation.resume(returning: .failure(refusal)) }
    }

    /// Posts that nobody waits for a call any more; calls that are done are not found and ignored.
    func cancel(_ id: UInt64) {
        state.withLock { state in
            if !state.shutdown.isClosed { Self.post(.cancel(id), to: &state) }
        }
    }

    /// Begins the shutdown; a second call may only shorten the grace.
    func close(grace: Duration) {
        state.withLock { state in
            state.shutdown.begin(grace: grace)
            Self.wake(state)
        }
    }

    func waitUntilClosed() async {
        await withCheckedContinuation { continuation in
            let isClosed = state.withLock { $0.shutdown.isClosed(orTell: continuation) }
            if isClosed { continuation.resume() }
        }
    }

    // MARK: The thread's side

    func open(multi: UnsafeMutableRawPointer) {
        state.withLock { $0.multiAddress = UInt(bitPattern: multi) }
    }

    func take() -> Delivery {
        state.withLock { state in
            defer { state.commands.removeAll(keepingCapacity: true) }
            return Delivery(commands: state.commands, closeDeadline: state.shutdown.deadline)
        }
    }

    func callEnded() {
        state.withLock { $0.inFlight -= 1 }
    }

    /// Forbids waking from now on, so that the multi handle may be freed.
    func forgetMulti() {
        state.withLock { $0.multiAddress = nil }
    }

    func closed() {
        let waiters = state.withLock { $0.shutdown.close() }
        for waiter in waiters { waiter.resume() }
    }

    private static func post(_ command: Command, to state: inout State) {
        state.commands.append(command)
        // Whoever finds the box empty wakes the thread; it takes everything at once.
        if state.commands.count == 1 { wake(state) }
    }

    private static func wake(_ state: State) {
        guard let address = state.multiAddress else { return }
        curl_multi_wakeup(UnsafeMutableRawPointer(bitPattern: address))
    }
}
