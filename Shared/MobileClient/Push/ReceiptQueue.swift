internal import Foundation

/// Keeps receipts of pushes until the API has counted them, across losses of the network and ends of the process.
actor ReceiptQueue {
    private let files: ReceiptFiles
    private let sender: any APISender
    private let time: TimeSource
    private let jitter: @Sendable () -> Int
    private var waiting: Task<Void, Never>?
    private var sending: Task<Void, Never>?
    private lazy var runner = ReducerRunner<ReceiptReducer>(ReceiptReducer.State()) { [weak self] effect in
        await self?.perform(effect) ?? []
    }

    /// - Parameter jitter: From 0 to 1,000.
    init(
        folder: URL, sender: any APISender, time: TimeSource,
        jitter: @escaping @Sendable () -> Int = { Int.random(in: 0...1_000) }
    ) {
        files = ReceiptFiles(folder: folder)
        self.sender = sender
        self.time = time
        self.jitter = jitter
    }

    deinit {
        waiting?.cancel()
        sending?.cancel()
    }

    /// The receipts that the API may not have.
    var pending: [PushReceipt] { get async { await runner.state.waiting } }

    /// Stores a receipt and sends it soon.
    func record(_ receipt: PushReceipt) async { await runner.send(.recorded(receipt)) }

    /// Sends the waiting receipts, including those that the extension or a former process has stored.
    func flush() async { await runner.send(.flush) }

    /// Removes the receipts of the person who signs out.
    func signedOut() async { await runner.send(.signedOut) }

    private func perform(_ effect: ReceiptReducer.Effect) -> [ReceiptReducer.Event] {
        switch effect {
        case .load: return [.loaded(files.load(now: time.now()))]
        case .store(let receipt):
            // On a full disk the receipt is sent by this process alone.
            try? files.add(receipt)
        case .remove(let keys): files.remove(keys)
        case .removeAll:
            files.removeAll()
            waiting?.cancel()
            sending?.cancel()
        case .send(let receipts, let request):
            sending = Task { [weak self, sender] in
                let event: ReceiptReducer.Event
                do throws(HeliographError) {
                    _ = try await sender.send(ReceiptRequests.record(receipts))
                    event = .accepted(request: request)
                } catch {
                    event = Self.event(of: error, request: request, jitter: self?.jitter() ?? 0)
                }
                await self?.runner.send(event)
            }
        case .wait(let milliseconds, let number):
            waiting?.cancel()
            waiting = Task { [weak self, time] in
                guard (try? await time.sleep(.milliseconds(milliseconds))) != nil else { return }
                await self?.runner.send(.waited(number))
            }
        }
        return []
    }

    /// The meaning of an error for a request.
    static func event(of error: HeliographError, request: Int, jitter: Int) -> ReceiptReducer.Event {
        switch (error.code, error.status) {
        case (.signedOut, _), (.unauthorized, _), (.forbidden, _): return .signInNeeded(request: request)
        case (.rateLimited, _), (.overloaded, _), (.internal, _), (.requestInProgress, _), (_, nil), (_, 408): break
        case (_, let status?) where (400..<500).contains(status) && status != 429 && !error.isRetryable:
            return .refused(request: request, index: index(in: error.field))
        default: break
        }
        let seconds = error.retryAfter.map { Int($0.components.seconds) + ($0.components.attoseconds > 0 ? 1 : 0) }
        return .failed(request: request, retryAfterSeconds: seconds, jitter: jitter)
    }

    /// The index in the API's `[3].event`.
    private static func index(in field: String?) -> Int? {
        guard let field, field.hasPrefix("[") else { return nil }
        return Int(field.dropFirst().prefix { $0 != "]" })
    }
}
