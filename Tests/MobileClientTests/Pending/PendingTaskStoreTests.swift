import Foundation
import Testing

@testable import MobileClient

@Suite struct PendingTaskStoreTests {
    private let root: TemporaryFolder
    private let time = ManualTime()

    init() throws { root = try TemporaryFolder() }

    private func store(_ operations: any FileOperations = SystemFiles(), secrets: (any PendingSecrets)? = nil) -> PendingTaskStore {
        PendingTaskStore(folder: root.url.appending(path: "store"), time: time.source, secrets: secrets, operations: operations)
    }

    private func task(_ payload: String = "state", files: [String] = [], secrets: [String] = []) -> PendingTask {
        PendingTask(kind: .imageJob, createdAt: time.now, payload: Data(payload.utf8), files: files, secrets: secrets)
    }

    private func write(_ text: String = "body", to file: URL, modifiedAt: Date? = nil) throws {
        try Data(text.utf8).write(to: file)
        try FileManager.default.setAttributes([.modificationDate: modifiedAt ?? time.now], ofItemAtPath: file.path)
    }

    @Test func `a task is read by another process as it was written`() async throws {
        var task = task()
        task.remoteID = "job"
        task.finishedAt = time.now.addingTimeInterval(0.123456789)
        let copy = task
        try await store().update(task.id) { $0 = copy }
        #expect(try await store().tasks() == [task])
        #expect(try await store().task(task.id) == task)
        #expect(try await store().task(UUID()) == nil)
    }

    @Test func `a change sees what another process has written since`() async throws {
        let (first, second) = (store(), store())
        let task = task("0")
        try await first.update(task.id) { $0 = task }
        await withTaskGroup { group in
            for store in [first, second] {
                group.addTask {
                    for _ in 0..<20 {
                        try? await store.update(task.id) { task in
                            let count = task.flatMap { Int(String(decoding: $0.payload, as: UTF8.self)) } ?? -1000
                            task?.payload = Data("\(count + 1)".utf8)
                        }
                    }
                }
            }
        }
        #expect(try await first.task(task.id)?.payload == Data("40".utf8))
    }

    @Test func `a removed task takes its files and secrets with it`() async throws {
        let secrets = FileSecrets(folder: root.url.appending(path: "secrets"))
        let store = store(secrets: secrets)
        let file = try await store.newFile(extension: "jpg")
        try write(to: file)
        try await secrets.set("token", for: "key")
        let task = task(files: [store.path(of: file)], secrets: ["key"])
        try await store.update(task.id) { $0 = task }
        #expect(root.files.contains("store/files/\(file.lastPathComponent)"))
        try await store.update(task.id) { $0 = nil }
        #expect(root.files == ["store/lock"])
    }

    @Test func `a file that a change leaves out is removed`() async throws {
        let store = store()
        let file = try await store.newFile(extension: "multipart")
        try write(to: file)
        let task = task(files: [store.path(of: file)])
        try await store.update(task.id) { $0 = task }
        try await store.update(task.id) { $0?.files = [] }
        #expect(root.files == ["store/lock", "store/tasks/\(task.id.uuidString.lowercased()).json"])
    }

    @Test func `a path that leads out of the folder is no file of the store`() async throws {
        let store = store()
        let outside = root.url.appending(path: "outside")
        try write(to: outside)
        for path in ["files/../../outside", "../outside", outside.path, "files/..", "tasks/x.json", "files/", ""] {
            #expect(store.url(of: path) == nil)
            let task = task(files: [path])
            try await store.update(task.id) { $0 = task }
            try await store.update(task.id) { $0 = nil }
        }
        #expect(root.files.contains("outside"))
    }

    @Test func `the extension of a new file is letters and digits only`() async throws {
        #expect(try await store().newFile(extension: "../J.p/g").lastPathComponent.hasSuffix(".jpg"))
        #expect(try await store().newFile(extension: "").pathExtension == "")
    }

    // MARK: Files that cannot be understood

    @Test(arguments: ["", "{", #"{"version":2,"task":{}}"#, #"{"version":1,"task":{"id":7}}"#])
    func `a file that cannot be understood is put aside, and the others are read`(text: String) async throws {
        let store = store()
        let task = task()
        try await store.update(task.id) { $0 = task }
        let bad = store.folders.tasks.appending(path: "\(UUID().uuidString.lowercased()).json")
        try write(text, to: bad)
        #expect(try await store.tasks() == [task])
        #expect(root.files.filter { $0.hasPrefix("store/quarantine/") }.count == 1)
        #expect(!FileManager.default.fileExists(atPath: bad.path))
    }

    @Test func `a file that cannot be read now is not taken for lost`() async throws {
        let store = store()
        let task = task()
        try await store.update(task.id) { $0 = task }
        // A folder in the file's place: it exists, and reading it fails.
        let file = store.url(of: task.id)
        try FileManager.default.removeItem(at: file)
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
        await #expect(throws: HeliographError.self) { try await store.task(task.id) }
        #expect(FileManager.default.fileExists(atPath: file.path))
    }

    @Test func `a task in the file of another is put aside`() async throws {
        let store = store()
        let (first, second) = (task(), task())
        try await store.update(first.id) { $0 = first }
        try FileManager.default.moveItem(at: store.url(of: first.id), to: store.url(of: second.id))
        #expect(try await store.tasks().isEmpty)
    }

    @Test func `the store goes on when its folder was removed`() async throws {
        let store = store()
        let task = task()
        try await store.update(task.id) { $0 = task }
        try FileManager.default.removeItem(at: store.folder)
        _ = try? await store.tasks()
        try await store.update(task.id) { $0 = task }
        #expect(try await store.tasks() == [task])
    }

    // MARK: Locks

    @Test func `a lock that another process keeps is an error that may pass`() async throws {
        let store = PendingTaskStore(folder: root.url, time: time.source, pause: {})
        let task = task()
        try await store.update(task.id) { $0 = task }
        let descriptor = open(root.url.appending(path: "lock").path, O_RDWR)
        #expect(flock(descriptor, LOCK_EX) == 0)
        let error = await #expect(throws: HeliographError.self) { try await store.tasks() }
        #expect(error?.code == .storage && error?.isRetryable == true)
        close(descriptor)
        #expect(try await store.tasks() == [task])
    }
}
