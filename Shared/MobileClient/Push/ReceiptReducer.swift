/// Decides when receipts are sent: in batches, one request at a time, again after a failure, and each until the API has it.
enum ReceiptReducer: Reducer {
    struct State: Hashable, Sendable {
        /// The receipts that the API may not have, the oldest first; the receipts of the current request come first.
        var waiting: [PushReceipt] = []
        /// The number of the request under way, and how many receipts it has.
        var request: Int?
        var requestCount = 0
        var lastRequest = 0
        /// Failures since the last success.
        var failures = 0
        /// The number of the wait under way.
        var wait: Int?
        var lastWait = 0
        /// Whether it waits for a person to sign in.
        var isPaused = false
        /// The most receipts in a request; the API takes 100.
        var maxBatch = 100
    }

    enum Event: Hashable, Sendable {
        case recorded(PushReceipt)
        /// These are in the files: the answer to ``Effect/load``.
        case loaded([PushReceipt])
        /// The app came to the foreground, the network came back, or a person signed in.
        case flush
        case accepted(request: Int)
        /// The API refuses the request for good: because of the receipt at an index, or as a whole.
        case refused(request: Int, index: Int?)
        /// It may succeed later. `jitter` is from 0 to 1,000.
        case failed(request: Int, retryAfterSeconds: Int?, jitter: Int)
        /// There is no credential.
        case signInNeeded(request: Int)
        case waited(Int)
        case signedOut
    }

    enum Effect: Hashable, Sendable {
        /// Reads the files: the extension and former processes have written to them. An effect, so that no sign-out comes between the
        /// reading and its consequences.
        case load
        case store(PushReceipt)
        case remove([String])
        case removeAll
        case send([PushReceipt], request: Int)
        case wait(milliseconds: Int, Int)
    }

    static let firstBackoff = 5_000
    static let maxBackoff = 900_000

    static func reduce(_ state: inout State, _ event: Event) -> [Effect] {
        switch event {
        case .recorded(let receipt):
            guard !state.waiting.contains(where: { $0.key == receipt.key }) else { return [] }
            state.waiting.append(receipt)
            return [.store(receipt)] + dropOldest(&state) + send(&state)
        case .loaded(let receipts):
            let known = Set(state.waiting.map(\.key))
            state.waiting += receipts.filter { !known.contains($0.key) }
            return dropOldest(&state) + send(&state)
        case .flush:
            (state.isPaused, state.wait) = (false, nil)
            return [.load]
        case .accepted(let request):
            guard let batch = end(&state, request) else { return [] }
            return drop(&state, batch)
        case .refused(let request, let index):
            guard let batch = end(&state, request) else { return [] }
            guard let index, batch.indices.contains(index) else { return drop(&state, batch) }
            return drop(&state, [batch[index]])
        case .failed(let request, let retryAfterSeconds, let jitter):
            guard end(&state, request) != nil else { return [] }
            state.failures += 1
            state.lastWait += 1
            state.wait = state.lastWait
            let limit = min(maxBackoff, firstBackoff << min(state.failures - 1, 10))
            // At least a second: an answer without delay must not become a loop.
            let backoff = max(1_000, limit * min(max(jitter, 0), 1_000) / 1_000)
            return [.wait(milliseconds: max(backoff, min(retryAfterSeconds ?? 0, 86_400) * 1_000), state.lastWait)]
        case .signInNeeded(let request):
            guard end(&state, request) != nil else { return [] }
            state.isPaused = true
            return []
        case .waited(let number):
            guard state.wait == number else { return [] }
            state.wait = nil
            return send(&state)
        case .signedOut:
            // The request belongs to the former person: its answer is ignored.
            (state.waiting, state.request, state.requestCount) = ([], nil, 0)
            (state.wait, state.failures, state.isPaused) = (nil, 0, false)
            return [.removeAll]
        }
    }

    private static func send(_ state: inout State) -> [Effect] {
        guard state.request == nil, state.wait == nil, !state.isPaused, !state.waiting.isEmpty else { return [] }
        state.lastRequest += 1
        state.request = state.lastRequest
        let batch = Array(state.waiting.prefix(state.maxBatch))
        state.requestCount = batch.count
        return [.send(batch, request: state.lastRequest)]
    }

    /// Drops the oldest of too many receipts, for example without a network, but none of the current request.
    private static func dropOldest(_ state: inout State) -> [Effect] {
        let excess = state.waiting.count - ReceiptFiles.maxCount
        guard excess > 0 else { return [] }
        let first = state.request == nil ? 0 : state.requestCount
        let oldest = first..<min(first + excess, state.waiting.count)
        let keys = state.waiting[oldest].map(\.key)
        state.waiting.removeSubrange(oldest)
        return [.remove(keys)]
    }

    /// Ends the request under way, and returns its receipts; nil when this is not it.
    private static func end(_ state: inout State, _ request: Int) -> [PushReceipt]? {
        guard state.request == request else { return nil }
        state.request = nil
        return Array(state.waiting.prefix(state.requestCount))
    }

    /// Drops receipts that the API has counted or refused, and sends the remaining ones.
    private static func drop(_ state: inout State, _ receipts: [PushReceipt]) -> [Effect] {
        let keys = receipts.map(\.key)
        state.waiting.removeAll { keys.contains($0.key) }
        state.failures = 0
        return [.remove(keys)] + send(&state)
    }
}
