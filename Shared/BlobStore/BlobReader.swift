public import NIOCore

/// Reads one object piece by piece, at the pace of its caller; see ``BlobStore/openMedia(_:limit:)``.
public protocol BlobReader: Sendable {
    /// Bytes of the whole object.
    var byteCount: Int { get }

    /// Returns bytes of the object from an offset on: at least one, at most ``BlobReading/pieceBytesMax``.
    ///
    /// - Parameters:
    ///   - offset: less than `end`.
    ///   - end: at most ``byteCount``.
    /// - Throws: `damaged`; `notFound` when the object was deleted meanwhile; `unavailable`.
    func read(from offset: Int, upTo end: Int) async throws(BlobStoreError) -> ByteBuffer
}

/// Limits of reading piece by piece.
public enum BlobReading {
    /// The most bytes of a piece: what a reader holds in memory at a time.
    public static let pieceBytesMax = 256 * 1024
}
