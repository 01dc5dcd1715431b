public import Foundation

/// A sign-up or sign-in by face, from its photos to its outcome.
///
/// The session goes on whether an app keeps this value or not, and in the next process if this one ends. Its outcome is reported once:
/// by ``result()`` and at the end of ``states``, however many wait for them.
public actor EKYCSession {
    /// The id on this device, which ``EKYCClient/pending()`` has again after a relaunch. The API's id is in ``State``.
    public nonisolated let id: UUID
    public nonisolated let kind: Kind

    private var state: State
    private var listeners: [UUID: AsyncStream<State>.Continuation] = [:]
    private var waiting: [CheckedContinuation<Outcome, Never>] = []

    init(id: UUID, kind: Kind, state: State) {
        self.id = id
        self.kind = kind
        self.state = state
    }

    /// The session's states from now on, the current one first. The stream ends after the terminal state.
    public nonisolated var states: AsyncStream<State> {
        let (stream, continuation) = AsyncStream.makeStream(of: State.self)
        Task { await add(continuation) }
        return stream
    }

    /// Waits for the outcome.
    ///
    /// It takes seconds as a rule, ten minutes when the API is busy, and up to 24 hours without a connection. Cancelling the task does
    /// not end the wait, because it does not end the session.
    public func result() async -> Outcome {
        if case .ended(let outcome) = state { return outcome }
        return await withCheckedContinuation { waiting.append($0) }
    }

    /// Shows a state to all who listen. No state follows a terminal one.
    func show(_ new: State) {
        guard !state.isTerminal, new != state else { return }
        state = new
        listeners.values.forEach { $0.yield(new) }
        guard case .ended(let outcome) = new else { return }
        listeners.values.forEach { $0.finish() }
        waiting.forEach { $0.resume(returning: outcome) }
        (listeners, waiting) = ([:], [])
    }

    private func add(_ continuation: AsyncStream<State>.Continuation) {
        continuation.yield(state)
        guard !state.isTerminal else { return continuation.finish() }
        let id = UUID()
        listeners[id] = continuation
        continuation.onTermination = { [weak self] _ in Task { await self?.remove(id) } }
    }

    private func remove(_ id: UUID) { listeners[id] = nil }
}
