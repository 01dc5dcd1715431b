internal import Foundation

/// Runs one session: performs what ``EKYCSessionReducer`` decides, on files, secrets and the API.
actor EKYCSessionDriver {
    typealias Machine = EKYCSessionReducer

    nonisolated let id: UUID
    nonisolated let kind: EKYCSession.Kind
    nonisolated let createdAt: Date
    nonisolated let session: EKYCSession
    let ports: EKYCPorts
    let hooks: EKYCHooks

    /// The photos and fields, until they are in a file.
    var order: EKYCOrder?
    var record: EKYCRecord?
    /// The file with the form; nil once it cannot exist.
    var body: URL?
    var secret = EKYCSecret()
    /// Whether a push about the session came before its id.
    var wasPushed = false
    /// The error that prevented the creation of the session.
    var refusal: HeliographError?
    /// Whether the token of the session is on the disk; also before there is one.
    var isTokenKept = true

    private let initial: Machine.State
    lazy var runner = ReducerRunner<EKYCSessionReducer>(initial) { [weak self] effect in await self?.perform(effect) ?? [] }
    private var task: Task<Void, Never>?
    /// Counts the requests and pauses, so that the outcome of an abandoned one is ignored.
    private var turn = 0
    var isLaunched = false
    private var isBusy = false
    private var quietWaiters: [CheckedContinuation<Void, Never>] = []

    /// A session that the app wants.
    init(_ order: EKYCOrder, _ ports: EKYCPorts, _ hooks: EKYCHooks) {
        id = UUID()
        kind = order.kind
        createdAt = ports.time.now()
        session = EKYCSession(id: id, kind: kind, state: .uploading, hooks)
        (self.order, self.ports, self.hooks) = (order, ports, hooks)
        initial = Machine.State(kind: kind, phase: .new)
        isLaunched = true
    }

    /// A session that a former process has left. Nil for a task that cannot be understood.
    init?(_ task: PendingTask, _ ports: EKYCPorts, _ hooks: EKYCHooks) {
        guard let record = try? task.decode(EKYCRecord.self) else { return nil }
        id = task.id
        kind = record.kind
        createdAt = task.createdAt
        let state: EKYCSession.State =
            switch record.phase {
            case .deciding(let id): .examining(sessionID: id)
            case .awaitingCode(let id, let awaited): .awaitingCode(sessionID: id, awaited, attemptsLeft: nil)
            case .signingIn(let id, _): .signingIn(sessionID: id)
            // The outcome is shown when the secret is deleted.
            case .new, .uploading, .ended, .removed: .uploading
            }
        session = EKYCSession(id: id, kind: kind, state: state, hooks)
        (self.record, self.ports, self.hooks) = (record, ports, hooks)
        body = task.files.first.flatMap { ports.store.url(of: $0) }
        initial = Machine.State(kind: kind, phase: record.phase)
    }

    deinit { task?.cancel() }

    // MARK: Requests and pauses

    /// A request or a pause. It does not keep the driver, which ends with its manager, and the request or pause with it.
    typealias Work = @Sendable () async -> Machine.Event?

    /// The time since the session was created, from either side: a clock that was set back makes a session no younger.
    static func age(since createdAt: Date, _ time: TimeSource) -> Machine.Age {
        let seconds = abs(time.now().timeIntervalSince(createdAt))
        return seconds * 1_000 <= Double(Machine.repetitionTime) ? .repeatable : seconds <= 86_400 ? .known : .over
    }

    var age: Machine.Age { Self.age(since: createdAt, ports.time) }

    /// Runs a request or a pause besides the effects; its event counts unless it was cancelled meanwhile.
    func start(_ work: @escaping Work) {
        turn += 1
        let mine = turn
        task = Task { [weak self] in
            guard let event = await work() else { return }
            await self?.finish(event, of: mine)
        }
    }

    private func finish(_ event: Machine.Event, of turn: Int) async { if turn == self.turn { await send(event) } }

    /// Handles an event. The manager removes a session without stored data once it has no request in progress.
    func send(_ event: Machine.Event) async {
        await runner.send(event)
        if await runner.state.isOver { await hooks.didRemove(id) }
    }

    func cancel() {
        turn += 1
        task?.cancel()
    }

    /// Returns when the current request, and the steps that follow from its answer, have led to a pause or to a stored outcome.
    func quiet() async {
        if isBusy { await withCheckedContinuation { quietWaiters.append($0) } }
    }

    func becomeBusy() { isBusy = true }

    func becomeQuiet() {
        isBusy = false
        quietWaiters.forEach { $0.resume() }
        quietWaiters = []
    }
}
