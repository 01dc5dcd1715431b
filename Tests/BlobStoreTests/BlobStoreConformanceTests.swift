import BlobStore
import NIOCore
import Testing

/// The behaviour that all stores share.
@Suite struct BlobStoreConformanceTests {
    private static let jpeg = BlobAccess.media(contentType: "image/jpeg")

    @Test(arguments: Backend.allCases, [0, 1, 65_535, 65_536, 65_537, 131_072, 2_000_000])
    func `An object is read as it was written`(backend: Backend, size: Int) async throws {
        try await backend.withStore { store, keys in
            let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            try await store.write(bytes, to: try keys("session/1"))
            #expect(try await store.read(try keys("session/1"), limit: size) == bytes)
            try await store.write(bytes, to: try keys("session/2"), as: Self.jpeg)
            #expect(try await store.read(try keys("session/2"), kind: .media, limit: size) == bytes)
        }
    }

    @Test(arguments: Backend.allCases, [1, 65_536, 65_537, 131_072, 2_000_000])
    func `A media object is read piece by piece, in any range`(backend: Backend, size: Int) async throws {
        try await backend.withStore { store, keys in
            let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            try await store.write(bytes, to: try keys("a"), as: Self.jpeg)
            let reader = try await store.openMedia(try keys("a"), limit: size)
            #expect(reader.byteCount == size)
            for range in [0..<size, size - 1..<size, size / 2..<size, 0..<(size + 1) / 2] {
                var read: [UInt8] = []
                while read.count < range.count {
                    let piece = try await reader.read(from: range.lowerBound + read.count, upTo: range.upperBound)
                    try #require(1...BlobReading.maxPieceByteCount ~= piece.readableBytes)
                    read += piece.readableBytesView
                }
                #expect(read == Array(bytes[range]))
            }
        }
    }

    @Test(arguments: Backend.allCases)
    func `Opening throws the error of its fault`(backend: Backend) async throws {
        try await backend.withStore { store, keys in
            try await store.write([UInt8](repeating: 1, count: 170_000), to: try keys("sealed"))
            try await store.write([UInt8](repeating: 1, count: 170_000), to: try keys("media"), as: Self.jpeg)
            let cases: [(String, Int, BlobStoreError.Code)] = [
                ("none", 10, .notFound), ("media", 169_999, .tooLarge), ("sealed", 170_000, .damaged),
            ]
            for (name, limit, code) in cases {
                let failure = await blobFailure { _ = try await store.openMedia(try keys(name), limit: limit) }
                #expect(failure?.code == code, "\(name)")
            }
        }
    }

    @Test(arguments: Backend.allCases)
    func `A write returns what its body returns`(backend: Backend) async throws {
        try await backend.withStore { store, keys in
            let result = try await store.write(try keys("a")) { writer in
                try await writer.append(ByteBuffer(bytes: [1]))
                return 42
            }
            #expect(result == 42)
        }
    }

    @Test(arguments: Backend.allCases)
    func `A failed write leaves no object, and its error is rethrown`(backend: Backend) async throws {
        struct Interrupted: Error {}
        try await backend.withStore { store, keys in
            let key = try keys("b")
            await #expect(throws: Interrupted.self) {
                try await store.write(key) { writer in
                    try await writer.append(ByteBuffer(repeating: 7, count: 200_000))
                    throw Interrupted()
                }
            }
            #expect(await store.readingFailure(key) == .notFound)
        }
    }

    @Test(arguments: Backend.allCases)
    func `A cancelled write leaves no object`(backend: Backend) async throws {
        try await backend.withStore { store, keys in
            let key = try keys("b")
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
            #expect(await store.readingFailure(key) == .notFound)
        }
    }

    @Test(arguments: Backend.allCases)
    func `An object replaces one of the same key, of any kind`(backend: Backend) async throws {
        try await backend.withStore { store, keys in
            let key = try keys("b")
            try await store.write([1, 2, 3], to: key)
            try await store.write([4], to: key)
            #expect(try await store.read(key, limit: 10) == [4])
            try await store.write([5], to: key, as: Self.jpeg)
            #expect(try await store.read(key, kind: .media, limit: 10) == [5])
        }
    }

    @Test(arguments: Backend.allCases)
    func `Reading throws the error of its fault`(backend: Backend) async throws {
        try await backend.withStore { store, keys in
            let (sealed, media) = (try keys("sealed"), try keys("media"))
            try await store.write([UInt8](repeating: 1, count: 170_000), to: sealed)
            try await store.write([UInt8](repeating: 1, count: 170_000), to: media, as: Self.jpeg)
            #expect(try await store.readingFailure(keys("none"), limit: 10) == .notFound)
            #expect(await store.readingFailure(sealed, limit: 169_999) == .tooLarge)
            #expect(await store.readingFailure(media, kind: .media, limit: 169_999) == .tooLarge)
            #expect(await store.readingFailure(media, kind: .media, limit: 10) == .tooLarge)
            #expect(await store.readingFailure(sealed, kind: .media) == .damaged)
            #expect(await store.readingFailure(media) == .damaged)
        }
    }

    @Test(arguments: Backend.allCases)
    func `Deleting removes the objects, and nothing else`(backend: Backend) async throws {
        try await backend.withStore { store, keys in
            for name in ["1/a", "1/b", "2/a", "20/a"] { try await store.write([1], to: try keys(name)) }
            try await store.delete([try keys("1/a"), try keys("1/b"), try keys("9/never")])
            for name in ["1/a", "1/b"] { #expect(try await store.readingFailure(keys(name)) == .notFound) }
            try await store.deleteAll(under: try keys("2"))
            try await store.deleteAll(under: try keys("2"))
            #expect(try await store.readingFailure(keys("2/a")) == .notFound)
            #expect(try await store.read(try keys("20/a"), limit: 1) == [1])
        }
    }

    @Test(arguments: Backend.allCases)
    func `A cancelled task still deletes`(backend: Backend) async throws {
        try await backend.withStore { store, keys in
            for name in ["1/a", "2/a"] { try await store.write([1], to: try keys(name)) }
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await store.delete([try keys("1/a")])
                try await store.deleteAll(under: try keys("2"))
            }
            try await task.value
            for name in ["1/a", "2/a"] { #expect(try await store.readingFailure(keys(name)) == .notFound) }
        }
    }

    @Test(arguments: Backend.allCases)
    func `A sweep deletes the groups that are old enough, and counts them`(backend: Backend) async throws {
        try await backend.withStore { store, keys in
            for name in ["ekyc/1/a", "ekyc/1/b", "ekyc/2/a", "other/1/a"] { try await store.write([1], to: try keys(name)) }
            #expect(try await store.deleteStale(under: try keys("ekyc"), olderThan: .seconds(3600)) == 0)
            #expect(try await store.deleteStale(under: try keys("none"), olderThan: .zero) == 0)
            #expect(try await store.deleteStale(under: try keys("ekyc"), olderThan: .zero) == 2)
            #expect(try await store.readingFailure(keys("ekyc/1/b")) == .notFound)
            #expect(try await store.read(try keys("other/1/a"), limit: 1) == [1])
        }
    }
}
