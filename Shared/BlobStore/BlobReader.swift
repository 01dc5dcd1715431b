public import NIOCore

/// Reads one object piece by piece, at the pace of its caller; see ``BlobStore/openMedia(_:limit:)``.
public protocol BlobReader: Sendable {
    /// The size of the whole object.
    var byteCount: Int { get }

    /// Returns bytes of the object from an offset on: at least one, at most ``BlobReading/maxPieceByteCount``.
    ///
    /// - Parameters:
    ///   - offset: The first byte; less than `end`.
    ///   - end: The end of the range; at most ``byteCount``.
    /// - Throws: `damaged`; `notFound` when the object was deleted meanwhile; `unavailable`.
    func read(from offset: Int, upTo end: Int) async throws(BlobStoreError) -> ByteBuffer
}

/// The limits of reading piece by piece.
public enum BlobReading {
    /// The most bytes of a piece, and so the memory of a reader.
    public static let maxPieceByteCount = 256 * 1024
}
