/// Runs a ``Reducer``: one event at a time, and the effects of an event one after the other before the next event.
///
/// An effect may return events, which are handled before waiting events. An effect must not await ``send(_:)`` of its own runner, which
/// would wait for itself. An effect that takes long (a request, a wait) starts a task and sends its outcome later.
actor ReducerRunner<Machine: Reducer> {
    private(set) var state: Machine.State
    private let perform: @Sendable (Machine.Effect) async -> [Machine.Event]
    private var queue: [Machine.Event] = []
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var isRunning = false

    init(_ state: Machine.State, perform: @escaping @Sendable (Machine.Effect) async -> [Machine.Event]) {
        self.state = state
        self.perform = perform
    }

    /// Handles an event; returns when its effects, and the effects of all events that waited before it, have been performed.
    func send(_ event: Machine.Event) async {
        queue.append(event)
        if isRunning {
            await withCheckedContinuation { waiting.append($0) }
            return
        }
        isRunning = true
        while !queue.isEmpty {
            for effect in Machine.reduce(&state, queue.removeFirst()) {
                queue.insert(contentsOf: await perform(effect), at: 0)
            }
        }
        isRunning = false
        let finished = waiting
        waiting = []
        finished.forEach { $0.resume() }
    }
}
