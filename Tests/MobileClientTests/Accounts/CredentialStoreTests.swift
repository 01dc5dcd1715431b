import Foundation
import Testing

@testable import MobileClient

@Suite(.timeLimit(.minutes(5))) struct CredentialStoreTests {
    let folder: TemporaryFolder
    let store: FileCredentialStore

    init() throws {
        folder = try TemporaryFolder()
        store = FileCredentialStore(file: folder.url.appendingPathComponent("deep/er/credentials"))
    }

    private struct Refused: Error {}

    @Test func `removed credentials leave nothing, also of a process that ended while it wrote them`() async throws {
        _ = try await store.update { $0 = Data("tokens".utf8) }
        let written = folder.url.appending(path: "deep/er/credentials.new")
        try Data("newer tokens".utf8).write(to: written)
        try await store.update { $0 = nil }
        #expect(folder.files.filter { !$0.hasSuffix("lock") } == [])
    }

    @Test func `what was written is read, changed and removed`() async throws {
        #expect(try await store.read() == nil)
        try await store.update { $0 = Data("1".utf8) }
        #expect(try await store.read() == Data("1".utf8))
        let seen = try await store.update { data in
            defer { data = nil }
            return data
        }
        #expect(seen == Data("1".utf8))
        #expect(try await store.read() == nil && folder.files == ["deep/er/credentials.lock"])
    }

    @Test func `a change that fails leaves all as it was`() async throws {
        try await store.update { $0 = Data("1".utf8) }
        await #expect(throws: Refused.self) {
            try await store.update { data in
                data = nil
                throw Refused()
            }
        }
        #expect(try await store.read() == Data("1".utf8))
    }

    @Test func `only the owner can read the file`() async throws {
        try await store.update { $0 = Data("1".utf8) }
        let file = folder.url.appendingPathComponent("deep/er/credentials")
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o600)
    }

    @Test func `a file that an ended process has left half written is replaced`() async throws {
        try await store.update { $0 = Data("1".utf8) }
        try Data("half".utf8).write(to: folder.url.appendingPathComponent("deep/er/credentials.new"))
        #expect(try await store.read() == Data("1".utf8))
        try await store.update { $0 = Data("2".utf8) }
        #expect(try await store.read() == Data("2".utf8))
        #expect(folder.files == ["deep/er/credentials", "deep/er/credentials.lock"])
    }

    @Test func `a file that cannot be read is an error, and not a file that is missing`() async throws {
        try FileManager.default.createDirectory(
            at: folder.url.appendingPathComponent("deep/er/credentials"), withIntermediateDirectories: true)
        await #expect(throws: (any Error).self) { try await store.read() }
        await #expect(throws: (any Error).self) { try await store.update { $0 = Data("1".utf8) } }
    }

    @Test func `changes of many tasks by two stores are one after the other`() async throws {
        let file = folder.url.appendingPathComponent("counter")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<40 {
                group.addTask {
                    try await FileCredentialStore(file: file).update { data in
                        let count = data.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
                        data = Data("\(count + 1)".utf8)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await FileCredentialStore(file: file).read() == Data("40".utf8))
    }

    /// - Parameter kind: How another holds it; a reader's lock would let a lock of readers in, and no lock of one owner.
    @Test(arguments: [LOCK_EX, LOCK_SH])
    func `a lock that is held for too long is an error, and its end is seen`(kind: Int32) async throws {
        let file = folder.url.appendingPathComponent("lock")
        let (held, hold) = AsyncStream.makeStream(of: Void.self)
        let release = DispatchSemaphore(value: 0)
        // Another process would hold it as this thread does, which is none of the tasks' threads.
        let descriptor = open(file.path, O_RDWR | O_CREAT, 0o600)
        Thread {
            flock(descriptor, kind)
            hold.yield()
            release.wait()
            close(descriptor)
        }.start()
        for await _ in held { break }
        let error = await #expect(throws: HeliographError.self) { try await FileLock(file, pause: {}).withLock {} }
        #expect(error?.code == .storage && error?.isRetryable == true)
        let waiting = Task { try await FileLock(file).withLock { true } }
        release.signal()
        #expect(try await waiting.value)
    }
}
