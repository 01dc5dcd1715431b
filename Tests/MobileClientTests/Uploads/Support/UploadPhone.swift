import Foundation
import Testing

@testable import MobileClient

/// A phone with one folder and one session, on which processes of an app come and go.
final class UploadPhone: Sendable {
    let folder: TemporaryFolder
    let system = SimulatedUploadSystem()
    let isDiskFull = Locked(false)
    let time = ManualTime()
    let tracker = RecordingTracker()
    let notifier = RecordingNotifier()
    /// The bearers that the app has, the current one first.
    let bearers = Locked<[String]>(["old", "new"])
    let owner = Locked<String?>("me")

    init() throws { folder = try TemporaryFolder() }

    /// The picture of an order, which belongs to the app.
    func picture(_ text: String = "picture") throws -> URL {
        let url = folder.url.appending(path: "pictures/\(text)")
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
        return url
    }

    func order(_ id: UUID = UUID(), _ text: String = "picture") throws -> UploadOrder {
        UploadOrder(id: id, file: try picture(text), boundary: "b", owner: "me")
    }

    var store: URL { folder.url.appending(path: "uploads") }

    /// The files of the store, without its lock.
    var files: [String] { folder.files.filter { $0.hasPrefix("uploads/") && $0 != "uploads/lock" } }

    /// Begins a process of the app.
    func launch(_ life: ProcessLife = ProcessLife()) throws -> BackgroundUploads {
        let configuration = try ClientConfiguration(
            baseURL: try #require(URL(string: "https://api.example.com")), appVersion: "1", folder: folder.url)
        let (bearers, owner) = (bearers, owner)
        let provider = UploadBearers(
            current: { () async throws(HeliographError) in
                guard let token = bearers.withLock({ $0.first }) else { throw HeliographError(.unreachable, "no network") }
                return .init(token: token, owner: owner.withLock { $0 })
            },
            replacement: { (refused) async throws(HeliographError) in
                let token = bearers.withLock { tokens -> String? in
                    if tokens.first == refused.token { tokens.removeFirst() }
                    return tokens.first
                }
                guard let token else { throw HeliographError(.signedOut, "no sign-in") }
                return .init(token: token, owner: owner.withLock { $0 })
            })
        return BackgroundUploads(
            store: PendingTaskStore(folder: store, time: time.source, operations: MortalFiles(life: life, isDiskFull: isDiskFull)),
            session: SimulatedSession(system: system, life: life), configuration: configuration, bearers: provider,
            notifier: notifier, time: time.source)
    }

    /// Waits until the session has so many live tasks.
    func waitForTasks(_ count: Int = 1) async throws -> [Int] {
        var tasks: [Int] = []
        await until {
            tasks = system.liveTasks
            return tasks.count == count
        }
        return try #require(tasks.count == count ? tasks : nil, "the session has \(tasks.count) live tasks, not \(count)")
    }
}

/// Stands for the tracker of jobs: it writes outcomes down, outside of any process.
final class RecordingTracker: Sendable {
    private let received = Locked<[UUID: String]>([:])
    private let conflicts = Locked<[String]>([])

    var outcomes: [UUID: String] { received.withLock { $0 } }
    var faults: [String] { conflicts.withLock { $0 } }

    func save(_ id: UUID, _ outcome: String) {
        let earlier = received.withLock { outcomes in
            defer { outcomes[id] = outcome }
            return outcomes[id]
        }
        if let earlier, earlier != outcome { conflicts.withLock { $0.append("\(earlier), then \(outcome)") } }
    }

    /// Orders, waits for the outcome, writes it down and acknowledges it.
    func follow(_ order: UploadOrder, _ uploads: BackgroundUploads, _ life: ProcessLife = ProcessLife()) async {
        do throws(HeliographError) {
            try await uploads.enqueue(order)
            let outcome: String
            do throws(HeliographError) { outcome = try await uploads.outcome(of: order.id) } catch {
                guard error.code != .cancelled || error.message.contains("order was") else { return }
                outcome = error.code.rawValue
            }
            guard life.mayGoOn() else { return }
            save(order.id, outcome)
            guard life.mayGoOn() else { return }
            await uploads.acknowledge(order.id)
        } catch {
            if !life.isOver { conflicts.withLock { $0.append("\(error)") } }
        }
    }
}

/// A notification centre.
final class RecordingNotifier: JobNotifying, Sendable {
    let shown = Locked<[JobNotification]>([])
    let pushes = Locked<Set<String>>([])

    func isShown(_ identifier: String) async -> Bool {
        pushes.withLock { $0.contains(identifier) } || shown.withLock { $0.contains { $0.identifier == identifier } }
    }

    func show(_ notification: JobNotification) async { shown.withLock { $0.append(notification) } }
}

/// Counts the calls of a completion handler, whose type makes it one of the main actor.
final class HandlerCounter: Sendable {
    private let calls = Locked(0)

    var count: Int { calls.withLock { $0 } }

    var completion: BackgroundUploads.Completion { { self.calls.withLock { $0 += 1 } } }

    func wait() async { await until { count > 0 } }
}
