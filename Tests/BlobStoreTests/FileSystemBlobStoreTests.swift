import BlobStore
import Foundation
import HeliographCrypto
import Testing

@Suite struct FileSystemBlobStoreTests {
    private func files(in root: String) -> [String] {
        (FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []).filter { name in
            var isDirectory: ObjCBool = false
            return FileManager.default.fileExists(atPath: "\(root)/\(name)", isDirectory: &isDirectory) && !isDirectory.boolValue
        }.sorted()
    }

    @Test func `The disk holds no plain content`() async throws {
        try await withFileSystemStore { store, root in
            let secret = Array("a very private picture".utf8)
            try await store.write(secret, to: try BlobKey("a/b"))
            let stored = try [UInt8](Data(contentsOf: URL(fileURLWithPath: "\(root)/a/b")))
            #expect(stored.count > secret.count)
            #expect(!String(decoding: stored, as: UTF8.self).contains("private"))
        }
    }

    @Test func `Another sealing key does not open an object`() async throws {
        try await withFileSystemStore { store, root in
            let key = try BlobKey("a/b")
            try await store.write([1], to: key)
            let other = FileSystemBlobStore(root: root, sealer: try testSealer(2))
            #expect(await other.readingFailure(key) == .damaged)
        }
    }

    @Test func `A file system store makes no links`() async throws {
        let key = try BlobKey("a")
        try await withFileSystemStore { store, _ in #expect(store.link(to: key, expires: .seconds(60)) == nil) }
    }

    @Test func `A changed, truncated or moved object does not open`() async throws {
        try await withFileSystemStore { store, root in
            let key = try BlobKey("a/b")
            try await store.write([UInt8](repeating: 1, count: 140_000), to: key)
            let path = URL(fileURLWithPath: "\(root)/a/b")
            let whole = try Data(contentsOf: path)
            try whole.write(to: URL(fileURLWithPath: "\(root)/a/moved"))
            #expect(try await store.readingFailure(BlobKey("a/moved"), limit: 200_000) == .damaged)
            for length in [0, 1, 40, 65_000, 131_200, whole.count - 1] {
                try whole.prefix(length).write(to: path)
                #expect(await store.readingFailure(key, limit: 200_000) == .damaged, "cut to \(length)")
            }
            var changed = whole
            changed[100_000] ^= 1
            try changed.write(to: path)
            #expect(await store.readingFailure(key, limit: 200_000) == .damaged)
        }
    }

    @Test func `Deleting the last object of a directory removes the directory`() async throws {
        try await withFileSystemStore { store, root in
            let keys = try ["e/1/a", "e/1/b", "e/2/a"].map { (name) in try BlobKey(name) }
            for key in keys { try await store.write([1], to: key) }
            try await store.delete(Array(keys[0...1]))
            #expect(files(in: root) == ["e/2/a"])
            #expect(!FileManager.default.fileExists(atPath: "\(root)/e/1"))
        }
    }

    @Test func `A sweep deletes old groups and the remains of interrupted writes`() async throws {
        try await withFileSystemStore { store, root in
            for name in ["ekyc/old/1", "ekyc/new/1"] { try await store.write([1], to: try BlobKey(name)) }
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
}
