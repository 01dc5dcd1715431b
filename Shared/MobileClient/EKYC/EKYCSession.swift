public import Foundation

/// A sign-up or sign-in by face, from its photos to its outcome.
///
/// The session continues whether an app keeps this value or not, and in the next process if this one ends. It has one outcome, by
/// ``result()`` and at the end of ``states``; ``EKYCClient/pending()`` has the session in each later process, too, until the app calls
/// ``acknowledge()``.
public actor EKYCSession {
    /// The id on this device, which ``EKYCClient/pending()`` has again after a relaunch. The API's id is in ``State``.
    public nonisolated let id: UUID
    /// Whether the session is a sign-up or a sign-in.
    public nonisolated let kind: Kind

    private var state: State
    private let acknowledgement: @Sendable (UUID) async -> Void
    private let entry: @Sendable (UUID, String) async -> Void
    private var listeners: [UUID: AsyncStream<State>.Continuation] = [:]
    private var waiting: [CheckedContinuation<Outcome, Never>] = []

    init(id: UUID, kind: Kind, state: State, _ hooks: EKYCHooks) {
        self.id = id
        self.kind = kind
        self.state = state
        (acknowledgement, entry) = (hooks.acknowledge, hooks.enterCode)
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

    /// Removes an ended session from the device: the app has acted on its outcome, for example shown it.
    ///
    /// Without it the outcome is reported again after each launch, for a day or until a sign-out. Has no effect before the end, or when
    /// called again. When the device cannot write, the outcome may be reported once more.
    public nonisolated func acknowledge() async { await acknowledgement(id) }

    /// Enters the code that the session waits for (``State/awaitingCode(sessionID:_:attemptsLeft:)``), as the person has typed it.
    ///
    /// The next state shows the result. The code is sent again until it has an answer, as long as the process runs. Has no effect in other
    /// states.
    public nonisolated func enter(code: String) async { await entry(id, code) }

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
