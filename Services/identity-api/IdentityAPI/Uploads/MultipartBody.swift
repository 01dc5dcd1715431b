internal import Hummingbird
internal import Multipart
internal import NIOCore

/// Reads a multipart request body piece by piece, at the pace of its consumer.
struct MultipartBody {
    /// The next piece of a body.
    enum Piece {
        case part(MultipartPartHeaders)
        case data(ByteBuffer)
        case partEnd
    }

    private var chunks: RequestBody.AsyncIterator
    private var parser: MultipartParser
    private var chunk = ByteBuffer()
    private var position = 0
    private var bytesLeft: Int

    init(_ body: RequestBody, boundary: MultipartBoundary, maxBytes: Int) {
        chunks = body.makeAsyncIterator()
        parser = MultipartParser(boundary: boundary)
        bytesLeft = maxBytes
    }

    /// Returns the next piece, or nil when the body is complete.
    ///
    /// - Throws: ``APIError`` for a body that is not well formed, too big, too slow or cut short.
    mutating func next() async throws -> Piece? {
        while true {
            switch try nextEvent() {
            case .partBegan(let headers): return .part(headers)
            case .partData(let range): return .data(slice(range))
            case .heldData(let bytes): return .data(ByteBuffer(bytes: bytes))
            case .partEnded: return .partEnd
            case .finished: continue
            case nil: break
            }
            guard try await readChunk() else { return nil }
        }
    }

    private mutating func nextEvent() throws -> MultipartEvent? {
        let chunk = chunk
        do {
            return try chunk.withUnsafeReadableBytes { bytes in
                try parser.nextEvent(in: RawSpan(_unsafeBytes: bytes), at: &position)
            }
        } catch let error as MultipartError {
            throw Self.refusal(error)
        }
    }

    private func slice(_ range: Range<Int>) -> ByteBuffer {
        // The range lies within the chunk: the parser made it from the chunk's own bytes.
        chunk.getSlice(at: chunk.readerIndex + range.lowerBound, length: range.count) ?? ByteBuffer()
    }

    /// Reads more of the request. False at its end.
    private mutating func readChunk() async throws -> Bool {
        guard let next = try await chunks.nextPiece() else {
            do {
                try parser.finish()
            } catch {
                throw Self.refusal(error)
            }
            return false
        }
        bytesLeft -= next.readableBytes
        guard bytesLeft >= 0 else { throw APIError(.payloadTooLarge, "The body is too large") }
        chunk = next
        position = 0
        return true
    }

    /// Reads the data of the current part as text.
    mutating func readText(_ field: String, _ limits: UploadLimits) async throws -> String {
        var bytes: [UInt8] = []
        while case .data(let piece) = try await next() {
            guard bytes.count + piece.readableBytes <= limits.textBytes else {
                throw APIError(.payloadTooLarge, "A field is longer than \(limits.textBytes) bytes", field: field)
            }
            bytes.append(contentsOf: piece.readableBytesView)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw APIError(.invalidRequest, "A field is not UTF-8", field: field)
        }
        return text
    }

    /// Reads the data of the current part and discards it.
    mutating func skipPart() async throws {
        while case .data = try await next() {}
    }

    private static func refusal(_ error: MultipartError) -> APIError {
        let message =
            switch error.code {
            case .truncated: "The body ends before its closing boundary"
            case .malformedHeader, .missingName: "A part of the body has no usable Content-Disposition"
            case .unsupportedTransferEncoding: "Parts of the body must not be transfer-encoded"
            case .limitExceeded: "The body has too many parts, or too much between them"
            case .malformedDelimiter, .badBoundary, .notMultipart: "The body does not follow its boundary"
            }
        return APIError(.invalidRequest, message, underlying: error)
    }
}
