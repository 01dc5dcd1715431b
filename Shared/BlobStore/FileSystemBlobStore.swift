internal import FoundationEssentials
public import HeliographCrypto
internal import NIOCore
public import NIOPosix

/// A ``BlobStore`` in a directory: one file per object, sealed in segments of 64 KiB as it is written.
///
/// An object is written under a temporary name and renamed when it is whole and on the disk. All disk access runs on a thread
/// pool, never on the threads of Swift concurrency.
public struct FileSystemBlobStore: BlobStore {
    /// The age at which a sweep deletes the file of an interrupted write.
    private static let partialLifetime = Duration.seconds(60 * 60)
    /// The directory of unfinished writes; no key can name it.
    static let partialDirectory = ".partial"

    /// Threads for disk access. They mostly wait, so there may be more of them than processors, which lets syncs overlap.
    public static let sharedThreadPool: NIOThreadPool = {
        let threadPool = NIOThreadPool(numberOfThreads: 8)
        threadPool.start()
        return threadPool
    }()

    let root: String
    let sealer: Sealer
    private let threadPool: NIOThreadPool

    /// Makes a store in a directory, which is created with the first object.
    ///
    /// - Parameters:
    ///   - root: An absolute path, on one file system with everything below it.
    ///   - sealer: Seals and opens the objects.
    ///   - threadPool: Runs the disk access; must be running.
    public init(root: String, sealer: Sealer, threadPool: NIOThreadPool = Self.sharedThreadPool) {
        self.root = root
        self.sealer = sealer
        self.threadPool = threadPool
    }

    /// See ``BlobStore/write(_:as:_:)``.
    public func write<Result: Sendable>(
        _ key: BlobKey, as access: BlobAccess, _ body: (any BlobWriter) async throws -> Result
    ) async throws -> Result {
        let partial = "\(root)/\(Self.partialDirectory)/\(UUID().uuidString)"
        let destination = path(key)
        let sealer = sealer
        let file = try await run { () throws(BlobStoreError) in
            try Disk.makeDirectory("\(root)/\(Self.partialDirectory)")
            return try SealedFile(
                OpenFile(creating: partial), of: key, context: access.kind.sealingContext(of: key), sealer: sealer)
        }
        do {
            let writer = FileBlobWriter(file: file, threadPool: threadPool)
            let result = try await body(writer)
            try await writer.finish(isDurable: true)
            try await run { () throws(BlobStoreError) in try Disk.move(partial, to: destination) }
            return result
        } catch {
            try? await runUncancelled { () throws(BlobStoreError) in
                file.discard()
                try Disk.remove(partial)
            }
            throw error
        }
    }

    /// See ``BlobStore/read(_:kind:limit:)``.
    public func read(_ key: BlobKey, kind: BlobKind, limit: Int) async throws(BlobStoreError) -> [UInt8] {
        let (path, sealer) = (path(key), sealer)
        return try await run { () throws(BlobStoreError) in
            try SealedFile.read(
                OpenFile(reading: path), of: key, context: kind.sealingContext(of: key), limit: limit, sealer: sealer)
        }
    }

    /// See ``BlobStore/openMedia(_:limit:)``.
    public func openMedia(_ key: BlobKey, limit: Int) async throws(BlobStoreError) -> any BlobReader {
        let (path, sealer, threadPool) = (path(key), sealer, threadPool)
        return try await run { () throws(BlobStoreError) in
            try FileBlobReader(
                OpenFile(reading: path), of: key, context: BlobKind.media.sealingContext(of: key), limit: limit, sealer: sealer,
                threadPool: threadPool)
        }
    }

    /// See ``BlobLinks/link(to:expires:)``. Always nil: a file system serves no links.
    public func link(to key: BlobKey, expires: Duration) -> String? { nil }

    /// See ``BlobStore/delete(_:)``.
    public func delete(_ keys: [BlobKey]) async throws(BlobStoreError) {
        let paths = keys.map(path)
        try await runUncancelled { () throws(BlobStoreError) in
            for path in paths {
                try Disk.remove(path)
                Disk.removeIfEmpty(Disk.parent(of: path))
            }
        }
    }

    /// See ``BlobStore/deleteAll(under:)``.
    public func deleteAll(under prefix: BlobKey) async throws(BlobStoreError) {
        let path = path(prefix)
        try await runUncancelled { () throws(BlobStoreError) in try Disk.removeTree(path) }
    }

    /// See ``BlobStore/deleteStale(under:olderThan:)``.
    public func deleteStale(under prefix: BlobKey, olderThan age: Duration) async throws(BlobStoreError) -> Int {
        let (path, partials) = (path(prefix), "\(root)/\(Self.partialDirectory)")
        return try await run { () throws(BlobStoreError) in
            var failure: BlobStoreError?
            for partial in try Disk.children(of: partials, unchangedFor: Self.partialLifetime) {
                do throws(BlobStoreError) { try Disk.remove(partial) } catch { failure = failure ?? error }
            }
            let stale = try Disk.children(of: path, unchangedFor: age)
            for group in stale {
                do throws(BlobStoreError) { try Disk.removeTree(group) } catch { failure = failure ?? error }
            }
            if let failure { throw failure }
            return stale.count
        }
    }

    func path(_ key: BlobKey) -> String { "\(root)/\(key.name)" }

    func run<Result: Sendable>(
        _ work: @escaping @Sendable () throws(BlobStoreError) -> Result
    ) async throws(BlobStoreError) -> Result {
        try await threadPool.runBlobWork(work)
    }

    private func runUncancelled<Result: Sendable>(
        _ work: @escaping @Sendable () throws(BlobStoreError) -> Result
    ) async throws(BlobStoreError) -> Result {
        try await uncancelled { () async throws(BlobStoreError) in try await threadPool.runBlobWork(work) }
    }
}

/// Runs work in a task of its own, so that a cancellation of the caller does not stop it.
func uncancelled<Result: Sendable>(
    _ work: @escaping @Sendable () async throws(BlobStoreError) -> Result
) async throws(BlobStoreError) -> Result {
    let outcome = await Task { () -> Swift.Result<Result, BlobStoreError> in
        do throws(BlobStoreError) {
            return .success(try await work())
        } catch {
            return .failure(error)
        }
    }.value
    return try outcome.get()
}

extension NIOThreadPool {
    func runBlobWork<Result: Sendable>(
        _ work: @escaping @Sendable () throws(BlobStoreError) -> Result
    ) async throws(BlobStoreError) -> Result {
        do {
            return try await runIfActive(work)
        } catch let error as BlobStoreError {
            throw error
        } catch {
            throw BlobStoreError(.unavailable, "the work was cancelled or the thread pool is shut down", underlying: error)
        }
    }
}
