import BlobStore
import Foundation
import HeliographCrypto
import TestSupport
import Testing

/// A rotation of the key of stored objects.
@Suite struct ResealTests {
    /// The ring after the key 2 was put in front of the key 1.
    private static func ring() throws -> String {
        let keys: [UInt8] = [2, 1]
        return keys.map { "k\($0):\(Data(repeating: $0, count: 32).base64EncodedString())" }.joined(separator: ",")
    }

    private static func rotated(_ root: String) throws -> FileSystemBlobStore {
        FileSystemBlobStore(root: root, sealer: Sealer(keyRing: try KeyRing(parsing: ring())))
    }

    private func list(_ store: some SealedBlobs, _ keys: Keys) async throws -> [BlobKey: String?] {
        var found: [BlobKey: String?] = [:]
        try await store.forEachSealed(under: keys.all) { for blob in $0 { found[blob.key] = .some(blob.keyID) } }
        return found
    }

    @Test func `A file is sealed anew, as its kind, and opens without the old key`() async throws {
        try await withFileSystemStore { store, root in
            let keys = Keys(prefix: "ekyc")
            let content = SecureRandom.bytes(200_000)
            try await store.write(content, to: keys("1/sealed"), as: .sealed)
            try await store.write(content, to: keys("1/picture.jpg"), as: .media(contentType: "image/jpeg"))
            let rotated = try Self.rotated(root)
            #expect(try await list(rotated, keys) == [keys("1/sealed"): "k1", keys("1/picture.jpg"): "k1"])
            for name in ["1/sealed", "1/picture.jpg"] { #expect(try await rotated.reseal(keys(name), limit: 1_000_000)) }
            #expect(try await list(rotated, keys) == [keys("1/sealed"): "k2", keys("1/picture.jpg"): "k2"])
            let after = FileSystemBlobStore(root: root, sealer: try testSealer(2))
            for name in ["1/sealed", "1/picture.jpg"] { #expect(try await after.verify(keys(name), limit: 1_000_000)) }
            #expect(try await !after.verify(keys("1/none"), limit: 100))
            #expect(try await after.read(keys("1/sealed"), kind: .sealed, limit: 1_000_000) == content)
            #expect(try await after.read(keys("1/picture.jpg"), kind: .media, limit: 1_000_000) == content)
            #expect(try FileManager.default.contentsOfDirectory(atPath: "\(root)/.partial") == [])
        }
    }

    @Test func `A file that is deleted stays deleted`() async throws {
        try await withFileSystemStore { store, root in
            let key = try BlobKey("ekyc/1/a")
            try await store.write([1], to: key)
            try await store.delete([key])
            #expect(try await !Self.rotated(root).reseal(key, limit: 100))
            #expect(await store.readingFailure(key) == .notFound)
        }
    }

    @Test func `A file of an unknown key is damaged, and stays as it is`() async throws {
        try await withFileSystemStore { store, root in
            let key = try BlobKey("ekyc/1/a")
            try await store.write([1], to: key)
            let stranger = FileSystemBlobStore(root: root, sealer: try testSealer(3))
            #expect(await blobFailure { _ = try await stranger.reseal(key, limit: 100) }?.code == .damaged)
            #expect(await blobFailure { _ = try await stranger.verify(key, limit: 100) }?.code == .damaged)
            #expect(try await store.read(key, limit: 100) == [1])
        }
    }

    @Test func `An object of a bucket is sealed anew, and pictures are left alone`() async throws {
        let server = try await S3Server.shared()
        let keys = Keys(prefix: "t\(UUID().uuidString.lowercased())")
        let store = try s3Store(server)
        let content = SecureRandom.bytes(200_000)
        try await store.write(content, to: keys("1/sealed"), as: .sealed)
        try await store.write(content, to: keys("1/picture.jpg"), as: .media(contentType: "image/jpeg"))
        let rotated = try s3Store(server, ring: Self.ring())
        #expect(try await list(rotated, keys) == [keys("1/sealed"): "k1"])
        #expect(try await rotated.reseal(keys("1/sealed"), limit: 1_000_000))
        #expect(try await list(rotated, keys) == [keys("1/sealed"): "k2"])
        #expect(try await s3Store(server, sealer: 2).read(keys("1/sealed"), kind: .sealed, limit: 1_000_000) == content)
        #expect(try await !rotated.reseal(keys("1/none"), limit: 100))
        #expect(try await s3Store(server, sealer: 2).verify(keys("1/sealed"), limit: 1_000_000))
        #expect(try await !rotated.verify(keys("1/none"), limit: 100))
    }
}
