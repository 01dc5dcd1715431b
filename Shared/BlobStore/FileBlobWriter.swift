internal import HeliographCrypto
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// Collects the pieces of an object and writes them on the thread pool, at least a segment at a time.
final class FileBlobWriter: BlobWriter {
    private let file: SealedFile
    private let threadPool: NIOThreadPool
    private let pending = Mutex(ByteBuffer())

    init(file: SealedFile, threadPool: NIOThreadPool) {
        self.file = file
        self.threadPool = threadPool
    }

    func append(_ bytes: ByteBuffer) async throws(BlobStoreError) {
        let full = pending.withLock { pending -> ByteBuffer? in
            pending.writeImmutableBuffer(bytes)
            guard pending.readableBytes >= Sealer.segmentByteCount else { return nil }
            defer { pending = ByteBuffer() }
            return pending
        }
        guard let full else { return }
        let file = file
        try await threadPool.runBlobWork { () throws(BlobStoreError) in try file.append(full) }
    }

    /// Writes the remaining bytes and, if `isDurable`, waits until the whole file is on the disk.
    func finish(isDurable: Bool) async throws(BlobStoreError) {
        let rest = pending.withLock { pending in
            defer { pending = ByteBuffer() }
            return pending
        }
        let file = file
        try await threadPool.runBlobWork { () throws(BlobStoreError) in
            try file.append(rest)
            try file.finish(isDurable: isDurable)
        }
    }
}
