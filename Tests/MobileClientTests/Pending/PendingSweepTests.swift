import Foundation
import Testing

@testable import MobileClient

@Suite struct PendingSweepTests {
    private let root: TemporaryFolder
    private let time = ManualTime()
    private let secrets: FileSecrets
    private let store: PendingTaskStore

    init() throws {
        root = try TemporaryFolder()
        secrets = FileSecrets(folder: root.url.appending(path: "secrets"))
        store = PendingTaskStore(folder: root.url.appending(path: "store"), time: time.source, secrets: secrets)
    }

    private func newFile(modified ago: TimeInterval) async throws -> URL {
        let file = try await store.newFile(extension: "jpg")
        try Data("picture".utf8).write(to: file)
        try setAge(ago, of: file)
        return file
    }

    private func setAge(_ ago: TimeInterval, of file: URL) throws {
        try FileManager.default.setAttributes([.modificationDate: time.now.addingTimeInterval(-ago)], ofItemAtPath: file.path)
    }

    @Test func `an expired task goes with its file and its secret`() async throws {
        let file = try await newFile(modified: 0)
        try await secrets.set("token", for: "key")
        let task = PendingTask(
            kind: .ekycSession, createdAt: time.now, files: [store.path(of: file)], secrets: ["key"])
        try await store.update(task.id) { $0 = task }
        time.advance(by: .seconds(86_400))
        #expect(try await store.sweep().isEmpty)
        time.advance(by: .seconds(1))
        #expect(try await store.sweep() == [task])
        #expect(root.files == ["store/lock"])
    }

    @Test func `the age of an ended task counts from its end`() async throws {
        var task = PendingTask(kind: .imageJob, createdAt: time.now.addingTimeInterval(-90_000))
        task.finishedAt = time.now
        let copy = task
        try await store.update(task.id) { $0 = copy }
        #expect(try await store.sweep().isEmpty)
        time.advance(by: .seconds(86_401))
        #expect(try await store.sweep() == [task])
    }

    @Test func `a task of a far future is swept, because it would never end`() async throws {
        let task = PendingTask(kind: .imageJob, createdAt: time.now.addingTimeInterval(1_000_000))
        try await store.update(task.id) { $0 = task }
        #expect(try await store.sweep() == [task])
    }

    @Test func `a file that no task names is swept after an hour, and one that a task names is not`() async throws {
        let orphan = try await newFile(modified: 3601)
        let young = try await newFile(modified: 3599)
        let named = try await newFile(modified: 7200)
        let task = PendingTask(kind: .imageJob, createdAt: time.now, files: [store.path(of: named)])
        try await store.update(task.id) { $0 = task }
        try await store.sweep()
        #expect(!FileManager.default.fileExists(atPath: orphan.path))
        #expect(FileManager.default.fileExists(atPath: young.path))
        #expect(FileManager.default.fileExists(atPath: named.path))
    }

    @Test func `a secret that no task names is swept after an hour`() async throws {
        try await secrets.set("token", for: "old")
        try await secrets.set("token", for: "young")
        try await secrets.set("token", for: "named")
        for key in ["old", "named"] { try setAge(3601, of: secrets.folder.appending(path: key)) }
        try setAge(0, of: secrets.folder.appending(path: "young"))
        let task = PendingTask(kind: .ekycSession, createdAt: time.now, secrets: ["named"])
        try await store.update(task.id) { $0 = task }
        try await store.sweep()
        #expect(try await secrets.keys().keys.sorted() == ["named", "young"])
    }

    @Test func `what was put aside is kept for a week`() async throws {
        _ = try await store.tasks()
        let file = store.folders.quarantine.appending(path: "bad.json")
        try Data("bad".utf8).write(to: file)
        try setAge(6 * 86_400, of: file)
        try await store.sweep()
        #expect(FileManager.default.fileExists(atPath: file.path))
        try setAge(8 * 86_400, of: file)
        try await store.sweep()
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test func `a secret is readable by its user only, and a key cannot name another file`() async throws {
        try await secrets.set("token", for: "session.1")
        let attributes = try FileManager.default.attributesOfItem(atPath: secrets.folder.appending(path: "session.1").path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try await secrets.secret(for: "session.1") == "token")
        for key in ["../x", "", ".", "..", "a/b", "k~new", String(repeating: "k", count: 101)] {
            await #expect(throws: HeliographError.self) { try await secrets.set("x", for: key) }
        }
    }
}
