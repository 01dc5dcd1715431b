import BlobStore
import Foundation
import HeliographCrypto
import NIOCore
import Testing

@Suite struct FileSystemBlobStoreTests {
    /// Runs a test on a store in a directory of its own.
    private func withStore(_ body: (FileSystemBlobStore, _ root: String) async throws -> Void) async throws {
        let root = NSTemporaryDirectory() + "blobs-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: root) }
        try await body(FileSystemBlobStore(root: root, sealer: try sealer(1)), root)
    }

    private func sealer(_ byte: UInt8) throws -> Sealer {
        let key = Data(repeating: byte, count: 32).base64EncodedString()
        return Sealer(keyRing: try KeyRing(parsing: "k\(byte):\(key)"))
    }

    private func files(in root: String) -> [String] {
        (FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []).filter { name in
            var isDirectory: ObjCBool = false
            return FileManager.default.fileExists(atPath: "\(root)/\(name)", isDirectory: &isDirectory) && !isDirectory.boolValue
        }.sorted()
    }

    private func write(_ bytes: [UInt8], as key: BlobKey, to store: FileSystemBlobStore, step: Int = 10_000) async throws {
        try await store.write(key) { writer in
            for start in stride(from: 0, to: bytes.count, by: step) {
                try await writer.append(ByteBuffer(bytes: bytes[start..<min(start + step, bytes.count)]))
            }
        }
    }

    @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 131_072, 300_000])
    func `An object comes back as it was written`(size: Int) async throws {
        try await withStore { store, root in
            let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            let key = try BlobKey("ekyc/session/1")
            try await write(bytes, as: key, to: store)
            #expect(try await store.read(key, limit: size) == bytes)
            #expect(files(in: root) == ["ekyc/session/1"])
        }
    }

    @Test func `Nothing readable is on the disk`() async throws {
        try await withStore { store, root in
            let secret = Array("a very private picture".utf8)
            try await write(secret, as: try BlobKey("a/b"), to: store)
            let stored = try [UInt8](Data(contentsOf: URL(fileURLWithPath: "\(root)/a/b")))
            #expect(stored.count > secret.count)
            #expect(!String(decoding: stored, as: UTF8.self).contains("private"))
        }
    }

    @Test func `A write that fails leaves nothing, and the error is passed on`() async throws {
        struct Interrupted: Error {}
        try await withStore { store, root in
            let key = try BlobKey("a/b")
            await #expect(throws: Interrupted.self) {
                try await store.write(key) { writer in
                    try await writer.append(ByteBuffer(repeating: 7, count: 200_000))
                    throw Interrupted()
                }
            }
            #expect(files(in: root).isEmpty)
            await #expect(throws: BlobStoreError.self) { try await store.read(key, limit: 1_000_000) }
        }
    }

    @Test func `A write whose task is cancelled leaves nothing`() async throws {
        try await withStore { store, root in
            let key = try BlobKey("a/b")
            let (started, signal) = AsyncStream<Void>.makeStream()
            let task = Task {
                try await store.write(key) { writer in
                    try await writer.append(ByteBuffer(repeating: 7, count: 200_000))
                    signal.finish()
                    while true { try await Task.sleep(for: .seconds(60)) }
                }
            }
            for await _ in started {}
            task.cancel()
            await #expect(throws: (any Error).self) { try await task.value }
            #expect(files(in: root).isEmpty)
        }
    }

    @Test func `An object replaces the one of the same key`() async throws {
        try await withStore { store, root in
            let key = try BlobKey("a/b")
            try await write([1, 2, 3], as: key, to: store)
            try await write([4], as: key, to: store)
            #expect(try await store.read(key, limit: 10) == [4])
            #expect(files(in: root).count == 1)
        }
    }

    @Test func `Reading says what is wrong`() async throws {
        try await withStore { store, root in
            let key = try BlobKey("a/b")
            try await write([UInt8](repeating: 1, count: 70_000), as: key, to: store)
            #expect(await code { try await store.read(try BlobKey("a/c"), limit: 10) } == .notFound)
            #expect(await code { try await store.read(key, limit: 69_999) } == .tooLarge)
            let other = FileSystemBlobStore(root: root, sealer: try sealer(2))
            #expect(await code { try await other.read(key, limit: 100_000) } == .damaged)
        }
    }

    @Test func `An object of one kind does not open as the other`() async throws {
        try await withStore { store, _ in
            let (sealed, media) = (try BlobKey("a/b"), try BlobKey("a/c"))
            try await write([1, 2, 3], as: sealed, to: store)
            try await store.write(media, as: .media(contentType: "image/jpeg")) { try await $0.append(ByteBuffer(bytes: [4, 5])) }
            #expect(try await store.read(media, kind: .media, limit: 10) == [4, 5])
            #expect(await code { try await store.read(media, limit: 10) } == .damaged)
            #expect(await code { try await store.read(sealed, kind: .media, limit: 10) } == .damaged)
            #expect(store.link(to: media, expires: .seconds(60)) == nil)
        }
    }

    @Test func `A changed, cut or moved object does not open`() async throws {
        try await withStore { store, root in
            let key = try BlobKey("a/b")
            try await write([UInt8](repeating: 1, count: 140_000), as: key, to: store)
            let path = URL(fileURLWithPath: "\(root)/a/b")
            let whole = try Data(contentsOf: path)
            try whole.write(to: URL(fileURLWithPath: "\(root)/a/moved"))
            #expect(await code { try await store.read(try BlobKey("a/moved"), limit: 200_000) } == .damaged)
            for length in [0, 1, 40, 65_000, 131_200, whole.count - 1] {
                try whole.prefix(length).write(to: path)
                #expect(await code { try await store.read(key, limit: 200_000) } == .damaged, "cut to \(length)")
            }
            var changed = whole
            changed[100_000] ^= 1
            try changed.write(to: path)
            #expect(await code { try await store.read(key, limit: 200_000) } == .damaged)
        }
    }

    @Test func `Deleting takes the objects and their directory, and nothing else`() async throws {
        try await withStore { store, root in
            let keys = try ["e/1/a", "e/1/b", "e/2/a"].map { (name) in try BlobKey(name) }
            for key in keys { try await write([1], as: key, to: store) }
            try await store.delete(Array(keys[0...1]) + [try BlobKey("e/9/never")])
            #expect(files(in: root) == ["e/2/a"])
            #expect(!FileManager.default.fileExists(atPath: "\(root)/e/1"))
            try await store.deleteAll(under: try BlobKey("e/2"))
            try await store.deleteAll(under: try BlobKey("e/2"))
            #expect(files(in: root).isEmpty)
        }
    }

    @Test func `A cancelled task still deletes`() async throws {
        try await withStore { store, root in
            let key = try BlobKey("e/1/a")
            try await write([1], as: key, to: store)
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await store.delete([key])
            }
            try await task.value
            #expect(files(in: root).isEmpty)
        }
    }

    @Test func `A sweep deletes old groups and what interrupted writes left`() async throws {
        try await withStore { store, root in
            for name in ["ekyc/old/1", "ekyc/new/1"] { try await write([1], as: try BlobKey(name), to: store) }
            try Data([1]).write(to: URL(fileURLWithPath: "\(root)/.partial/interrupted"))
            let longAgo = Date(timeIntervalSinceNow: -4_000)
            for name in ["ekyc/old", ".partial/interrupted"] {
                try FileManager.default.setAttributes([.modificationDate: longAgo], ofItemAtPath: "\(root)/\(name)")
            }
            #expect(try await store.deleteStale(under: try BlobKey("ekyc"), olderThan: .seconds(1_800)) == 1)
            #expect(files(in: root) == ["ekyc/new/1"])
            #expect(try await store.deleteStale(under: try BlobKey("none"), olderThan: .seconds(1)) == 0)
        }
    }

    private func code(_ body: () async throws -> [UInt8]) async -> BlobStoreError.Code? {
        do {
            _ = try await body()
            return nil
        } catch {
            return (error as? BlobStoreError)?.code
        }
    }
}

@Suite struct BlobKeyTests {
    @Test(arguments: ["a", "ekyc/0f-A_b.c/12", "a/b/c/d/e/f/g/h", String(repeating: "x", count: 128)])
    func `A proper name is a key`(name: String) throws {
        #expect(try BlobKey(name).name == name)
    }

    @Test(arguments: [
        "", "/", "a/", "/a", "a//b", ".", "..", "a/../b", "a/..", ".hidden", "a/.partial", "a\\b", "a b", "ä", "a\0", "a\nb",
        "a/b/c/d/e/f/g/h/i", String(repeating: "x", count: 129), "~", "a:b", "%2e%2e",
    ])
    func `A name that could mean anything else is refused`(name: String) {
        #expect(throws: BlobStoreError.self) { try BlobKey(name) }
    }
}
