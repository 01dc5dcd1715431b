internal import Foundation

/// Uploads orders of pictures by a background session, so that they survive the end of the app, and tells how each ended.
///
/// ``start()`` at each launch, also one in the background, takes up what earlier processes have begun. Who orders calls
/// ``enqueue(_:)``, waits for ``outcome(of:)``, writes that down, and calls ``acknowledge(_:)``; after a restart it does the same again
/// under the same id, and gets the same outcome.
actor BackgroundUploads {
    typealias Machine = BackgroundUploadReducer
    /// The completion handler of a wake-up.
    typealias Completion = @MainActor @Sendable () -> Void

    /// The time of a wake-up after which its completion handler is called in any case; iOS gives about 30 seconds.
    static let wakeUpTime = Duration.seconds(25)
    /// The time that a push has to arrive before a local notification is shown.
    static let pushTime = Duration.seconds(5)
    /// The time after which an outcome that could not be written is written again.
    static let saveTime = Duration.seconds(5)
    /// The time after which a bearer that could not be had is asked for again.
    static let bearerTime = Duration.seconds(60)

    let records: UploadRecords
    let session: any BackgroundUploading
    let builder: RequestBuilder
    let bearers: UploadBearers
    let notifier: (any JobNotifying)?
    let time: TimeSource
    /// The orders that have no outcome, as they are in the store.
    var orders: [UUID: (task: PendingTask, record: UploadRecord)] = [:]
    var bearer: UploadBearers.Bearer?
    var completions: [Int: Completion] = [:]
    var templateNames: [String: String] = [:]
    var endings: [UUID: Machine.Ending] = [:]
    var waiters: [UUID: (order: UUID, continuation: CheckedContinuation<Machine.Ending?, Never>)] = [:]
    private var nextHandler = 0
    private var starting: Task<HeliographError?, Never>?
    private var isStarted = false
    private var tasks: [UUID: Task<Void, Never>] = [:]
    private(set) lazy var runner = ReducerRunner<Machine>(Machine.State()) { [weak self] in await self?.perform($0) ?? [] }

    /// - Parameters:
    ///   - store: A store of its own: the id of a task is the id of an order.
    ///   - notifier: Shows a notification of a job that completes in the background; nil shows none.
    init(
        store: PendingTaskStore, session: any BackgroundUploading, configuration: ClientConfiguration, bearers: UploadBearers,
        notifier: (any JobNotifying)? = nil, time: TimeSource = .system
    ) {
        records = UploadRecords(store: store)
        self.session = session
        builder = RequestBuilder(configuration: configuration)
        self.bearers = bearers
        self.notifier = notifier
        self.time = time
    }

    deinit {
        tasks.values.forEach { $0.cancel() }
        waiters.values.forEach { $0.continuation.resume(returning: nil) }
    }

    // MARK: Launch

    /// Takes up the orders of earlier processes and the tasks of the session. Repeated calls do nothing.
    ///
    /// Throws `storage` when the orders cannot be read, as before the device was unlocked for the first time; it may be called again.
    func start() async throws(HeliographError) {
        guard !isStarted else { return }
        let running = starting ?? Task { await self.load() }
        starting = running
        let error = await running.value
        if let error {
            if starting == running { starting = nil }
            throw error
        }
    }

    private func load() async -> HeliographError? {
        do throws(HeliographError) { orders = try await records.open() } catch { return error }
        let events = session.events()
        await runner.send(.launched(orders.compactMapValues { $0.record.upload(of: $0.task) }))
        isStarted = true
        run { [weak self] in
            // The order of the session's events matters: the end of a task comes before the end of the wake-up.
            for await event in events { await self?.handle(event) }
        }
        return nil
    }

    private func handle(_ event: UploadEvent) async {
        switch event {
        case .finished: await runner.send(.sessionFinished)
        case .ended(let task, let description, let end):
            // An order that is not known has its outcome, and no interest in this one.
            guard let id = await id(of: description) else { return }
            await runner.send(
                .completed(id, task: task, .init(end, requestID: id.wireText, now: time.now())))
        }
    }

    /// The order in the description of a task; nil when it is none of this process's.
    func id(of description: String?) async -> UUID? {
        await runner.state.uploads.keys.first { $0.wireText == description }
    }

    /// Ends the orders that are older than 24 hours, and removes what is left of those that ended as long ago.
    func sweep() async throws(HeliographError) {
        try await start()
        await runner.send(.swept(now: time.now()))
        try await records.store.sweep(olderThan: .seconds(Machine.Limits.age))
    }

    // MARK: The system and the app

    /// Takes a `handleEventsForBackgroundURLSession` of the system; returns false, and does nothing, for another session.
    ///
    /// The completion handler is called exactly once, on the main thread, after everything that the wake-up brought is written down, and
    /// at the latest after ``wakeUpTime``.
    func handleEvents(identifier: String, completion: @escaping Completion) async -> Bool {
        guard identifier == session.identifier else { return false }
        let handler = nextHandler
        nextHandler += 1
        completions[handler] = completion
        do throws(HeliographError) { try await start() } catch {
            // Without its records nothing can be done now; the next launch finds the tasks in the session's list.
            await callCompletion(handler)
            return true
        }
        await runner.send(.wokenUp(handler: handler))
        return true
    }

    func enterForeground() async { await runner.send(.foreground) }
    func enterBackground() async { await runner.send(.background) }

    /// The account is signed in again, or the network has returned: orders that wait for a bearer go on.
    func bearerMayBeHad() async { await runner.send(.bearerDue) }

    /// Ends all orders; returns when that is written down. To be called before the credentials are removed. Throws `storage`.
    func signedOut() async throws(HeliographError) {
        try await start()
        await runner.send(.signedOut)
        // On a full disk a record can be deleted but not updated: the order is dropped, and its end is not reported.
        for (id, upload) in await runner.state.uploads {
            guard case .saving = upload.phase else { continue }
            try await records.store.update(id) { $0 = nil }
            await runner.send(.saveAgain(id))
        }
    }

    /// Runs something that takes long, beside the runner.
    func run(_ body: @escaping @Sendable () async -> Void) {
        let id = UUID()
        tasks[id] = Task { [weak self] in
            await body()
            await self?.remove(id)
        }
    }

    private func remove(_ id: UUID) { tasks[id] = nil }
}
