import Foundation

@testable import MobileClient

/// A device with a tracker, against ``FakeImagesAPI``. ``relaunch()`` is an end of the process with a launch after it.
final class JobBench: Sendable {
    let root: TemporaryFolder
    let api: FakeImagesAPI
    let time: ManualTime
    let store: PendingTaskStore
    let sender: ScriptedSender
    let tracker: JobTracker

    init(
        options: JobTracker.Options = JobBench.options(), operations: any FileOperations = SystemFiles(), root: TemporaryFolder? = nil,
        api: FakeImagesAPI = FakeImagesAPI(), at now: Date? = nil, isInForeground: Bool = true, owner: String? = nil
    ) throws {
        self.root = try root ?? TemporaryFolder()
        self.api = api
        time = now.map { ManualTime($0) } ?? ManualTime()
        store = PendingTaskStore(folder: self.root.url, time: time.source, operations: operations)
        sender = ScriptedSender { sent throws(HeliographError) in try await api.answer(sent) }
        tracker = JobTracker(
            store: store, sender: sender, time: time.source, options: options, isInForeground: isInForeground, owner: { owner },
            order: Self.orders(from: store, by: sender))
    }

    /// Sends an order with the file of its task at once, where an app has ``BackgroundUploads``.
    static func orders(from store: PendingTaskStore, by sender: ScriptedSender) -> JobTracker.Order {
        { task throws(HeliographError) in
            let record: JobRecord = try task.decode()
            guard let file = task.files.first.flatMap({ store.url(of: $0) }) else {
                throw HeliographError(.invalidArgument, "The order has no file")
            }
            return try await sender.send(JobsRequests.order(file: file, boundary: record.boundary, key: task.id))
        }
    }

    /// Options without jitter.
    static func options(maxStreams: Int = 0, maxRequests: Int = 4) -> JobTracker.Options {
        var options = JobTracker.Options()
        options.random = { 1 }
        options.maxStreams = maxStreams
        options.maxRequests = maxRequests
        return options
    }

    /// The same device in a new process, some time later.
    func relaunch(after seconds: TimeInterval = 0, isInForeground: Bool = true, owner: String? = nil) throws -> JobBench {
        try JobBench(root: root, api: api, at: time.now.addingTimeInterval(seconds), isInForeground: isInForeground, owner: owner)
    }

    /// Keeps an order as an app does, with a form of a few bytes.
    func keep() async throws -> PendingTask {
        let file = try await store.newFile(extension: "form")
        try Data("form".utf8).write(to: file)
        let task = try PendingTask(
            kind: .imageJob, createdAt: time.now, encoding: JobRecord(template: "ink", boundary: "b", owner: await tracker.owner()),
            files: [store.path(of: file)])
        try await store.update(task.id) { $0 = task }
        return task
    }

    func order() async throws -> UUID {
        let task = try await keep()
        await tracker.begin(task)
        return task.id
    }

    /// Orders, and waits until the tracker waits for the first poll.
    func orderAndAccept() async throws -> UUID {
        let id = try await order()
        // The deadline of the order, and the poll.
        await time.waitForSleepers(2)
        return id
    }

    /// The end of an order, which is acknowledged by that.
    func outcome(of id: UUID) async -> JobUpdate.Outcome? {
        var outcomes: [JobUpdate.Outcome] = []
        for await update in tracker.updates(of: id) { if let outcome = update.outcome { outcomes.append(outcome) } }
        return outcomes.count == 1 ? outcomes[0] : nil
    }

    /// Lets the time of a poll pass, and waits until its answer has been handled.
    func poll() async {
        let requests = await api.requests.count
        time.advance(by: .seconds(3))
        await api.waitForRequests(requests + 1)
    }

    var files: [String] { root.files.filter { $0 != "lock" } }

    func triggers() async -> [String?] { await api.requests.filter { $0.method == "GET" }.map { $0.headers["X-Client-Trigger"] } }
}

extension JobUpdate.Outcome {
    var isCompleted: Bool {
        guard case .completed = self else { return false }
        return true
    }
}
