internal import Hummingbird
internal import JSON
internal import NIOCore

/// The next piece of the body of an upload.
enum UploadPiece {
    /// A field that is no picture, whole and small.
    case field(String, JSONValue)
    /// The start of the picture in a field.
    case pictureBegan(String)
    /// Bytes of the picture's file.
    case pictureData(ByteBuffer)
    /// The end of the picture.
    case pictureEnded
}

/// The body of an upload in one of its formats, read piece by piece at the pace of its consumer.
protocol UploadBody {
    /// Returns the next piece, or nil when the body is complete.
    ///
    /// - Throws: ``APIError`` for a body that is not well formed, too big, too slow or cut short.
    mutating func next() async throws -> UploadPiece?
}

/// The chunks of a request's body, the current one with the offset up to which it is parsed.
struct BodyChunks {
    private var chunks: RequestBody.AsyncIterator
    private var bytesLeft: Int
    /// Whether no byte of the body has arrived.
    private(set) var isEmpty = true
    /// The current chunk; empty before the first.
    private(set) var chunk = ByteBuffer()
    /// The offset up to which the chunk is parsed.
    var position = 0

    init(_ body: RequestBody, maxBytes: Int) {
        chunks = body.makeAsyncIterator()
        bytesLeft = maxBytes
    }

    /// Reads the next chunk; false at the end of the body.
    mutating func advance() async throws -> Bool {
        let next: ByteBuffer?
        do {
            next = try await chunks.next(isolation: #isolation)
        } catch let error as CancellationError {
            throw error
        } catch {
            throw APIError.unreadableBody(error)
        }
        guard let next else { return false }
        bytesLeft -= next.readableBytes
        if next.readableBytes > 0 { isEmpty = false }
        guard bytesLeft >= 0 else { throw APIError(.payloadTooLarge, "The body is too large") }
        (chunk, position) = (next, 0)
        return true
    }
}
