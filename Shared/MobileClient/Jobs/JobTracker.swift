internal import Foundation

/// Follows the orders of a device: from the request that begins each to the moment when the app has seen its end.
///
/// ``JobReducer`` decides; the tracker sends its requests, sets its timers, and hands its updates to readers. One process at a time
/// may have a tracker on a store; extensions read the store only.
actor JobTracker {
    struct Options: Sendable {
        var pollInterval = Duration.seconds(3)
        var maxPolls = 20
        /// After this the API has forgotten the order, and would take a repetition for another one.
        var lifetime = Duration.seconds(86_400)
        /// Reads and deletions at a time. Orders do not count: one waits for its upload, which may wait for a network.
        var maxRequests = 4
        /// The maximum number of orders that are followed by a stream; the others are polled. Each stream holds a connection, and the API
        /// limits the connections of an address.
        var maxStreams = 1
        /// A random number from 0 to 1.
        var random: @Sendable () -> Double = { .random(in: 0...1) }
    }

    /// Orders a picture with the file of its task; answers with the job's id.
    typealias Order = @Sendable (PendingTask) async throws(HeliographError) -> String

    /// The signed-in account; nil without a sign-in, or when the app's accounts are not known here.
    typealias Owner = @Sendable () async -> String?

    /// The tracker calls it with a picture that is ready, when that is kept: before the app has acknowledged it, and again after each
    /// launch until then.
    typealias Completion = @Sendable (_ jobID: String, JobUpdate.Picture) async -> Void

    /// The tracker's data of an order besides the reducer's state.
    struct Entry {
        let runner: ReducerRunner<JobReducer>
        let task: PendingTask
        let template: String
        let owner: String?
        var jobID: String?
        var latest: JobUpdate?
        var tag: String?
        var timer: (number: Int, task: Task<Void, Never>)?
        var deadline: Task<Void, Never>?
        var request: Task<Void, Never>?
        var stream: Task<Void, Never>?

        func cancelTasks() {
            for task in [timer?.task, deadline, request, stream] { task?.cancel() }
        }
    }

    let store: PendingTaskStore
    let sender: any APISender
    let time: TimeSource
    let options: Options
    let order: Order
    let owner: Owner
    let onCompleted: Completion
    let gate: RequestGate

    var entries: [UUID: Entry] = [:]
    /// The orders by the ids of their jobs.
    var ids: [String: UUID] = [:]
    /// Jobs whose push arrived before the answer to their order.
    var earlyPushes = RecentJobs<String, Bool>(limit: 2_000)
    /// How orders ended that the app has acknowledged, for readers that come late.
    var ended = RecentJobs<UUID, JobUpdate>(limit: 2_000)
    /// Orders that this process has begun to follow.
    var known: Set<UUID> = []
    var mailboxes: [UUID: JobMailbox] = [:]
    var readers: [UUID?: Set<UUID>] = [:]
    var streaming: Set<UUID> = []
    var timers = 0
    var isInForeground: Bool
    private var isStarted = false

    init(
        store: PendingTaskStore, sender: any APISender, time: TimeSource = .system, options: Options = Options(),
        isInForeground: Bool = true, owner: @escaping Owner = { nil }, order: @escaping Order,
        onCompleted: @escaping Completion = { _, _ in }
    ) {
        self.store = store
        self.sender = sender
        self.time = time
        self.options = options
        self.isInForeground = isInForeground
        self.order = order
        self.owner = owner
        self.onCompleted = onCompleted
        gate = RequestGate(limit: options.maxRequests)
    }

    deinit { entries.values.forEach { $0.cancelTasks() } }

    // MARK: The process

    /// Follows all orders of the store; call it at the launch of the app. Safe to call again, also after an error.
    func start() async throws(HeliographError) {
        guard !isStarted else { return }
        let tasks = try await store.tasks()
        // Another call may have come first.
        guard !isStarted else { return }
        isStarted = true
        // All are known before the first goes on, so that a push that arrives meanwhile finds its order.
        let orders = tasks.filter { $0.kind == .imageJob && insert($0) }
        await forgetOthers()
        for task in orders { await send(.started(isLaunch: true, isLate: remaining(task) <= .zero), to: task.id) }
    }

    /// Follows an order that is in the store already.
    func begin(_ task: PendingTask) async {
        if insert(task) { await send(.started(isLaunch: false, isLate: remaining(task) <= .zero), to: task.id) }
    }

    func enterForeground() async {
        isInForeground = true
        await sendAll(.enteredForeground)
    }

    func enterBackground() async {
        isInForeground = false
        await sendAll(.enteredBackground)
    }

    /// The network is there again: what waits for another attempt does not wait any more.
    func networkReturned() async { await sendAll(.networkReturned) }

    /// Ends all orders as cancelled, without a request, and removes everything of them from the device: the person signs out, and the next
    /// person must not see their orders.
    ///
    /// - Throws: `storage` when the device cannot read or remove their files; a repetition removes the rest.
    func forgetAll() async throws(HeliographError) {
        try await start()
        await forget(Array(entries.keys))
        for task in try await store.tasks() where known.contains(task.id) && entries[task.id] == nil {
            try await store.update(task.id) { $0 = nil }
        }
    }

    /// Removes the orders of accounts other than the signed-in one; call it after a sign-in. Such orders remain when an app ended before it
    /// had removed them.
    func forgetOthers() async {
        guard let owner = await owner() else { return }
        await forget(entries.filter { $0.value.owner != nil && $0.value.owner != owner }.map(\.key))
    }

    // MARK: Orders

    /// A push names a job; returns whether this device has ordered it. The push is no proof of anything: the API is asked.
    @discardableResult
    func pushArrived(jobID: String) async -> Bool {
        try? await start()
        guard let id = ids[jobID] else {
            // The push may be faster than the answer to the order.
            if JobsRequests.isJobID(jobID) { earlyPushes.keep(true, for: jobID) }
            return false
        }
        await send(.pushed, to: id)
        return true
    }

    /// Waits until the API has answered the current request about a job, so that the system may suspend the app.
    func settle(jobID: String) async {
        guard let id = ids[jobID] else { return }
        // The current request, and the request that its answer causes.
        for _ in 0..<2 { await entries[id]?.request?.value }
    }

    /// Cancels an order; it ends as cancelled when the API has confirmed that.
    func cancel(_ id: UUID) async throws(HeliographError) {
        try await start()
        await send(.cancelled, to: id)
    }

    /// The app has seen the end of an order, which is removed from the device with that.
    func acknowledge(_ id: UUID) async { await send(.acknowledged, to: id) }

    /// The orders whose end the app has not acknowledged, the oldest first.
    func jobs() async throws(HeliographError) -> [ImagesClient.Job] {
        try await start()
        return entries.map { id, entry in
            ImagesClient.Job(id: id, jobID: entry.jobID, template: entry.template, orderedAt: entry.task.createdAt)
        }.sorted { ($0.orderedAt, $0.id.uuidString) < ($1.orderedAt, $1.id.uuidString) }
    }

    // MARK: Inside

    private func insert(_ task: PendingTask) -> Bool {
        // An order that began while the store was read is followed already. An unreadable record is removed when it is too old.
        guard let record = try? task.decode(JobRecord.self), known.insert(task.id).inserted else { return false }
        var state = JobReducer.State()
        state.saved = record.saved
        state.maxPolls = options.maxPolls
        state.usesStream = options.maxStreams > 0
        state.isInForeground = isInForeground
        let id = task.id
        let runner = ReducerRunner<JobReducer>(state) { [weak self] effect in await self?.perform(effect, of: id) ?? [] }
        entries[id] = Entry(runner: runner, task: task, template: record.template, owner: record.owner, jobID: record.saved.jobID)
        if let jobID = record.saved.jobID { ids[jobID] = id }
        if !record.saved.hasEnded { entries[id]?.deadline = deadline(of: task) }
        return true
    }

    /// The time until the API has forgotten an order. An order with a time in the future has no time left: the clock was wrong, and
    /// otherwise the order would not end.
    func remaining(_ task: PendingTask) -> Duration {
        let age = Duration.seconds(time.now().timeIntervalSince(task.createdAt))
        return age < .zero - options.lifetime ? .zero : options.lifetime - age
    }

    private func deadline(of task: PendingTask) -> Task<Void, Never> {
        Task { [weak self, time] in
            while let rest = await self?.remaining(task), rest > .zero {
                do { try await time.sleep(rest) } catch { return }
            }
            await self?.send(.deadlinePassed, to: task.id)
        }
    }

    func send(_ event: JobReducer.Event, to id: UUID) async { await entries[id]?.runner.send(event) }

    private func forget(_ ids: [UUID]) async {
        for id in ids {
            await send(.forgotten, to: id)
            await send(.acknowledged, to: id)
        }
    }

    private func sendAll(_ event: JobReducer.Event) async {
        for runner in entries.values.map(\.runner) { await runner.send(event) }
    }
}
