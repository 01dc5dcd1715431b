internal import HTTPClient
internal import NIOCore

/// Reads one media object by one request per piece, so that a slow client holds no connection to the store.
///
/// The object of a key never changes, because keys are not reused.
struct S3BlobReader: BlobReader {
    let byteCount: Int
    private let key: BlobKey
    private let client: S3Client
    /// The first piece, whose response also has the object's length.
    private let first: [UInt8]

    /// Reads the first piece and the object's length.
    init(_ key: BlobKey, limit: Int, sealedType: String, client: S3Client) async throws(BlobStoreError) {
        self.key = key
        self.client = client
        let response: S3Piece
        do throws(BlobStoreError) {
            response = try await client.piece(of: key, 0..<BlobReading.maxPieceByteCount)
        } catch  where error.code == .tooLarge {
            throw BlobStoreError(.unavailable, "the store does not support range requests for \(key)", underlying: error)
        }
        guard response.type != sealedType else { throw BlobStoreError(.damaged, "\(key) is sealed") }
        byteCount = response.wholeByteCount
        guard byteCount <= limit else { throw BlobStoreError(.tooLarge, "\(key) has more than \(limit) bytes") }
        first = response.bytes
    }

    func read(from offset: Int, upTo end: Int) async throws(BlobStoreError) -> ByteBuffer {
        precondition(offset >= 0 && offset < end && end <= byteCount)
        if offset < first.count { return ByteBuffer(bytes: first[offset..<min(first.count, end)]) }
        let piece = try await client.piece(of: key, offset..<min(end, offset + BlobReading.maxPieceByteCount)).bytes
        guard !piece.isEmpty else { throw BlobStoreError(.damaged, "\(key) has become shorter while it was read") }
        return ByteBuffer(bytes: piece)
    }
}

/// A range of an object's bytes, with the type and length of the whole object.
struct S3Piece {
    let bytes: [UInt8]
    let type: String?
    let wholeByteCount: Int
}

extension S3Client {
    /// Reads a range of an object; the piece is shorter where the object ends.
    func piece(of key: BlobKey, _ range: Range<Int>) async throws(BlobStoreError) -> S3Piece {
        var request = S3Client.Request(key: key, maxResponseByteCount: range.count)
        request.headers = [("Range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)")]
        let response = try await send(request)
        let whole = response.header("Content-Range")?.split(separator: "/").last.flatMap { Int($0) }
        // An empty object has no range, and a store may send a small object whole.
        guard response.status == 206 || range.lowerBound == 0 else {
            throw BlobStoreError(.unavailable, "the store does not support range requests for \(key)")
        }
        return S3Piece(bytes: response.body, type: response.header("Content-Type"), wholeByteCount: whole ?? response.body.count)
    }
}
