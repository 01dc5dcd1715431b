internal import CLibCurl
internal import Synchronization

/// Passes calls and cancellations from callers to libcurl's thread; the only state that both sides share.
final class CurlMailbox: Sendable {
    /// A request and the continuation of its caller.
    struct Call: Sendable {
        let id: UInt64
        let request: HTTPClientRequest
        let continuation: CheckedContinuation<Result<HTTPClientResponse, HTTPClientError>, Never>
    }

    enum Command: Sendable {
        case start(Call)
        case cancel(UInt64)
    }

    /// Everything that the thread takes from the mailbox at once.
    struct Batch {
        var commands: [Command]
        /// The time at which calls in flight must be failed; nil before a shutdown begins.
        var closeDeadline: ContinuousClock.Instant?
    }

    private struct State {
        var commands: [Command] = []
        var inFlight = 0
        var shutdown = ClientShutdown()
        /// The address of the multi handle while it exists. `curl_multi_wakeup` is the only function of it that another thread may
        /// call.
        var multiAddress: UInt?
    }

    private let state: Mutex<State>
    private let maxRequestsInFlight: Int

    init(maxRequestsInFlight: Int) {
        self.maxRequestsInFlight = maxRequestsInFlight
        state = Mutex(State())
    }

    /// Posts a call, or fails it at once when the client is closing or full.
    func start(_ call: Call) {
        let refusal: HTTPClientError? = state.withLock { state in
            if state.shutdown.refusesCalls { return .shutDown }
            if state.inFlight >= maxRequestsInFlight {
                return HTTPClientError(.notSent, mayHaveReachedServer: false, "too many requests are in flight")
            }
            state.inFlight += 1
            Self.post(.start(call), to: &state)
            return nil
        }
        if let refusal { call.continuation.resume(returning: .failure(refusal)) }
    }

    /// Posts the cancellation of a call; it is ignored when the call has ended.
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
            let isClosed = state.withLock { $0.shutdown.isClosed(orAdd: continuation) }
            if isClosed { continuation.resume() }
        }
    }

    // MARK: The thread's side

    func open(multi: UnsafeMutableRawPointer) {
        state.withLock { $0.multiAddress = UInt(bitPattern: multi) }
    }

    func take() -> Batch {
        state.withLock { state in
            defer { state.commands.removeAll(keepingCapacity: true) }
            return Batch(commands: state.commands, closeDeadline: state.shutdown.deadline)
        }
    }

    func callEnded() {
        state.withLock { $0.inFlight -= 1 }
    }

    /// Stops waking the thread, so that the multi handle may be freed.
    func detachMulti() {
        state.withLock { $0.multiAddress = nil }
    }

    func markClosed() {
        let waiters = state.withLock { $0.shutdown.close() }
        for waiter in waiters { waiter.resume() }
    }

    private static func post(_ command: Command, to state: inout State) {
        state.commands.append(command)
        // Only the first command wakes the thread, because the thread takes all commands at once.
        if state.commands.count == 1 { wake(state) }
    }

    private static func wake(_ state: State) {
        guard let address = state.multiAddress else { return }
        curl_multi_wakeup(UnsafeMutableRawPointer(bitPattern: address))
    }
}
