internal import HeliographCrypto
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// Reads one sealed file segment by segment. It holds the open file, so that a deletion does not truncate a response in progress.
final class FileBlobReader: BlobReader {
    let byteCount: Int
    private let file: OpenFile
    private let key: BlobKey
    private let threadPool: NIOThreadPool
    /// Locked, because the cipher context can open only one segment at a time.
    private let segments: Mutex<SealedSegments>

    /// Opens a file and its last segment, which proves that the file is not truncated. Blocks.
    init(
        _ file: OpenFile, of key: BlobKey, context: [UInt8], limit: Int, sealer: Sealer, threadPool: NIOThreadPool
    ) throws(BlobStoreError) {
        let segments = try Self.openLast(file, of: key, context: context, sealer: sealer)
        let count = segments.plainByteCount
        guard count <= limit else { throw BlobStoreError(.tooLarge, "\(key) has more than \(limit) bytes") }
        byteCount = count
        self.file = file
        self.key = key
        self.threadPool = threadPool
        self.segments = Mutex(segments)
    }

    private static func openLast(
        _ file: OpenFile, of key: BlobKey, context: [UInt8], sealer: Sealer
    ) throws(BlobStoreError) -> SealedSegments {
        let size = try file.byteCount()
        let first = try file.read(atMost: min(size, SealedSegments.maxHeaderByteCount), from: 0)
        do {
            var segments = try sealer.makeSegments(first, byteCount: size, context: context)
            let last = segments.range(of: segments.count - 1)
            _ = try segments.open(segments.count - 1, try file.read(atMost: last.count, from: last.lowerBound))
            return segments
        } catch let error as BlobStoreError {
            throw error
        } catch {
            throw BlobStoreError(.damaged, "\(key) does not open", underlying: error)
        }
    }

    func read(from offset: Int, upTo end: Int) async throws(BlobStoreError) -> ByteBuffer {
        precondition(offset >= 0 && offset < end && end <= byteCount)
        return try await threadPool.runBlobWork { () throws(BlobStoreError) in try self.segment(at: offset, upTo: end) }
    }

    /// Opens the segment that contains `offset`, and returns its bytes from there on, up to `end`.
    private func segment(at offset: Int, upTo end: Int) throws(BlobStoreError) -> ByteBuffer {
        let (number, start) = (offset / Sealer.segmentByteCount, offset % Sealer.segmentByteCount)
        let range = segments.withLock { $0.range(of: number) }
        let sealed = try file.read(atMost: range.count, from: range.lowerBound)
        do {
            let plain = try segments.withLock { segments throws(CryptoError) in try segments.open(number, sealed) }
            return ByteBuffer(bytes: plain[start..<min(plain.count, start + end - offset)])
        } catch {
            throw BlobStoreError(.damaged, "\(key) does not open", underlying: error)
        }
    }
}
