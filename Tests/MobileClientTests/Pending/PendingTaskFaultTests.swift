import Foundation
import Testing

@testable import MobileClient

/// What the store reads after a fault at each of its steps.
@Suite struct PendingTaskFaultTests {
    private let time = ManualTime()

    /// Runs a change of a task with one file under a fault; returns what a new process reads, and the files that are left an hour later.
    private func outcome(
        of fault: FaultyFiles.Fault, from old: PendingTask?, to new: PendingTask?, id: UUID
    ) async throws -> (task: PendingTask?, failed: Bool, steps: Int, left: [String]) {
        let root = try TemporaryFolder()
        let clean = PendingTaskStore(folder: root.url, time: time.source)
        for task in [old, new].compactMap({ $0 }) {
            for path in task.files { try Data("body".utf8).write(to: #require(await file(path, in: clean))) }
        }
        try await clean.update(id) { $0 = old }
        let operations = FaultyFiles(fault)
        let faulty = PendingTaskStore(folder: root.url, time: time.source, operations: operations)
        var failed = false
        do { try await faulty.update(id) { $0 = new } } catch { failed = true }
        let task = try await clean.task(id)
        let later = ManualTime(time.now.addingTimeInterval(4000))
        try await PendingTaskStore(folder: root.url, time: later.source).sweep()
        return (task, failed, operations.steps, root.files)
    }

    private func file(_ path: String, in store: PendingTaskStore) async throws -> URL? {
        _ = try await store.newFile(extension: "")
        return store.url(of: path)
    }

    private func faults(_ steps: Int) -> [FaultyFiles.Fault] {
        (1...steps).flatMap { step in
            [.fail(step: step)] + [0, 1, 20, 100, 1 << 20].map { .crash(step: step, bytes: $0) }
        }
    }

    @Test(arguments: [(false, true), (true, true), (true, false)])
    func `the old or the new state is read after a fault at any step, and no file is left`(isThere: Bool, isKept: Bool) async throws {
        let id = UUID()
        let old = PendingTask(id: id, kind: .imageJob, createdAt: time.now, payload: Data("old".utf8), files: ["files/old"])
        let new = PendingTask(id: id, kind: .imageJob, createdAt: time.now, payload: Data("new".utf8), files: ["files/new"])
        let (before, after) = (isThere ? old : nil, isKept ? new : nil)
        let steps = try await outcome(of: .fail(step: .max), from: before, to: after, id: id).steps
        #expect(steps >= 3)
        var seen: Set<Data?> = []
        for fault in faults(steps) {
            let outcome = try await outcome(of: fault, from: before, to: after, id: id)
            seen.insert(outcome.task?.payload)
            #expect(outcome.task == before || outcome.task == after, "\(fault)")
            // A change that returned is on the disk.
            if !outcome.failed { #expect(outcome.task == after, "\(fault)") }
            let named = Set(outcome.task?.files ?? [])
            let left = outcome.left.filter { $0 != "lock" && !$0.hasPrefix("tasks/") && !named.contains($0) }
            #expect(left.isEmpty, "\(fault)")
            #expect(outcome.left.filter { $0.hasPrefix("tasks/") }.count == (outcome.task == nil ? 0 : 1), "\(fault)")
        }
        #expect(seen.count == 2)
    }

    @Test func `a secret is the old or the new one after a fault at any step`() async throws {
        for fault in faults(4) {
            let root = try TemporaryFolder()
            let clean = FileSecrets(folder: root.url)
            try await clean.set("old", for: "key")
            try? await FileSecrets(folder: root.url, files: FaultyFiles(fault)).set("new", for: "key")
            #expect(["old", "new"].contains(try await clean.secret(for: "key")), "\(fault)")
            #expect(try await clean.keys().keys.sorted() == ["key"])
            try await clean.remove("key")
            #expect(root.files.isEmpty, "\(fault)")
        }
    }
}
