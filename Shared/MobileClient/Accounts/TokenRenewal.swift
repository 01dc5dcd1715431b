internal import Foundation

/// Renews tokens: performs the effects of a ``TokenRefreshReducer``, and lets the callers wait that need a token.
actor TokenRenewal {
    /// The API's answer to a refresh token.
    enum Answer: Sendable {
        case tokens(AccountTokens)
        case refused
        case failed(HeliographError)
    }

    private let records: CredentialRecords
    private let time: TimeSource
    private let request: @Sendable (_ refreshToken: String, _ timeout: Duration) async -> Answer
    private let onChange: @Sendable () async -> Void
    /// Names this process, or rather this object, in claims.
    private let holder = UUID()
    private var waiting: [UUID: CheckedContinuation<HeliographError?, Never>] = [:]
    // Tasks of this actor hold it while they run, so an effect is performed even when the app has released the client.
    private lazy var runner = ReducerRunner<TokenRefreshReducer>(TokenRefreshReducer.State()) { [weak self] effect in
        await self?.perform(effect) ?? []
    }

    init(
        records: CredentialRecords, time: TimeSource, request: @escaping @Sendable (String, Duration) async -> Answer,
        onChange: @escaping @Sendable () async -> Void
    ) {
        self.records = records
        self.time = time
        self.request = request
        self.onChange = onChange
    }

    /// Waits until tokens were renewed, or need not be, or cannot be. The store may then still have the same tokens, because the wait may
    /// end with a renewal that another caller has requested.
    ///
    /// The caller's cancellation ends the wait, but not the renewal.
    func renew(_ need: TokenRefreshReducer.Need) async throws(HeliographError) {
        let id = UUID()
        let error = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiting[id] = continuation
                send(.needed(need))
            }
        } onCancel: {
            Task { await self.cancel(id) }
        }
        if let error { throw error }
    }

    private func cancel(_ id: UUID) {
        waiting.removeValue(forKey: id)?.resume(returning: HeliographError(.cancelled, "The task was cancelled"))
    }

    private func send(_ event: TokenRefreshReducer.Event) {
        Task { await self.runner.send(event) }
    }

    private func perform(_ effect: TokenRefreshReducer.Effect) async -> [TokenRefreshReducer.Event] {
        let (time, holder) = (time, holder)
        switch effect {
        case .claim(let need):
            return await change({ $0.claim(need, by: holder, now: time.now()) }, then: { .claimed($0) })
        case .wait(let failures):
            Task {
                // A full second for another process; after failures from half a second on, without two devices in step.
                let seconds = failures == 0 ? 1 : Double.random(in: 0.5...1) * Double(failures)
                try? await time.sleep(.seconds(seconds))
                await runner.send(.waited)
            }
            return []
        case .request(let ticket):
            Task { await runner.send(exchange(ticket)) }
            return []
        case .store(let ticket, let tokens):
            return await change({ $0.store(tokens, for: ticket, now: time.now()) }, then: { .stored })
        case .lose(let ticket):
            return await change({ $0.lose(ticket) }, then: { _ in .ended })
        case .release:
            // An error leaves the claim to its end.
            _ = await change({ $0.release(holder) }, then: { .stored })
            return []
        case .finish(let error):
            let finished = waiting.values
            waiting = [:]
            finished.forEach { $0.resume(returning: error) }
            return []
        }
    }

    private func change<Outcome: Sendable>(
        _ change: @escaping @Sendable (inout CredentialRecord) -> Outcome, then event: (Outcome) -> TokenRefreshReducer.Event
    ) async -> [TokenRefreshReducer.Event] {
        do throws(HeliographError) {
            let outcome = try await records.update(change)
            await onChange()
            return [event(outcome)]
        } catch {
            return [.storeFailed(error)]
        }
    }

    /// Sends the request of a ticket, and gives up by the end of its time.
    private func exchange(_ ticket: TokenRefreshReducer.Ticket) async -> TokenRefreshReducer.Event {
        let now = time.now()
        guard ticket.maySend(at: now) else { return .late }
        switch await request(ticket.refreshToken, .seconds(ticket.sendBy.timeIntervalSince(now))) {
        case .tokens(let tokens): return .answered(tokens)
        case .refused: return .refused
        case .failed(let error): return .failed(error)
        }
    }
}
