internal import Hummingbird
internal import JSON
internal import Multipart
internal import NIOCore

/// `multipart/form-data` with pictures as files.
struct MultipartBody: UploadBody {
    /// The fields that are read. Others are skipped: an app may send fields that this version does not know.
    struct Fields {
        /// The fields whose data is a picture.
        var pictures: Set<String>
        /// The fields whose data is a text.
        var texts: Set<String> = []
        /// The text fields whose data is JSON.
        var json: Set<String> = []
    }

    private let fields: Fields
    private let limits: UploadLimits
    private var chunks: BodyChunks
    private var parser: MultipartParser
    /// The first bytes of a picture whose beginning was returned.
    private var firstBytes: ByteBuffer?

    init(_ body: RequestBody, boundary: MultipartBoundary, fields: Fields, maxBytes: Int, limits: UploadLimits) {
        self.fields = fields
        self.limits = limits
        chunks = BodyChunks(body, maxBytes: maxBytes)
        parser = MultipartParser(boundary: boundary)
    }

    mutating func next() async throws -> UploadPiece? {
        if let bytes = firstBytes.take() { return .pictureData(bytes) }
        while let event = try await nextEvent() {
            switch event {
            case .partBegan(let headers):
                if let name = pictureField(headers.name) {
                    // Forms of browsers and generated clients send an empty part for a file that is not given.
                    guard let bytes = try await firstBytesOfPart() else { continue }
                    firstBytes = bytes
                    return .pictureBegan(name)
                }
                if fields.texts.contains(headers.name) { return .field(headers.name, try await readValue(of: headers.name)) }
                while try await nextPartData() != nil {}
            case .partData(let range): return .pictureData(slice(range))
            case .heldData(let bytes): return .pictureData(ByteBuffer(bytes: bytes))
            case .partEnded: return .pictureEnded
            case .finished: continue
            }
        }
        return nil
    }

    /// Returns the field of pictures that a part belongs to: its name without what clients add to each file of several, as in `faces[]`,
    /// `faces[0]`, `faces.0` and `faces0`. Nil for another part.
    private func pictureField(_ name: String) -> String? {
        if fields.pictures.contains(name) { return name }
        var base = Substring(name)
        let isBracketed = base.last == "]"
        if isBracketed { base.removeLast() }
        while let last = base.utf8.last, 0x30...0x39 ~= last { base.removeLast() }
        if isBracketed {
            guard base.last == "[" else { return nil }
            base.removeLast()
        } else if base.last == "." {
            base.removeLast()
        }
        return fields.pictures.contains(String(base)) ? String(base) : nil
    }

    /// Returns the next event, reading more of the body as it is needed; nil when the body is complete.
    private mutating func nextEvent() async throws -> MultipartEvent? {
        repeat {
            if let event = try nextEventInChunk() { return event }
        } while try await chunks.advance()
        do {
            try parser.finish()
        } catch {
            throw Self.refusal(error)
        }
        return nil
    }

    private mutating func nextEventInChunk() throws(APIError) -> MultipartEvent? {
        let chunk = chunks.chunk
        do throws(MultipartError) {
            return try chunk.withUnsafeReadableBytes { bytes throws(MultipartError) in
                try parser.nextEvent(in: RawSpan(_unsafeBytes: bytes), at: &chunks.position)
            }
        } catch {
            throw Self.refusal(error)
        }
    }

    private func slice(_ range: Range<Int>) -> ByteBuffer {
        // The range lies within the chunk: the parser made it from the chunk's own bytes.
        chunks.chunk.getSlice(at: chunks.chunk.readerIndex + range.lowerBound, length: range.count) ?? ByteBuffer()
    }

    /// Returns the first bytes of the part that has begun; nil for an empty part.
    private mutating func firstBytesOfPart() async throws -> ByteBuffer? {
        while let bytes = try await nextPartData() {
            if bytes.readableBytes > 0 { return bytes }
        }
        return nil
    }

    /// Returns the next data of the current part; nil at its end.
    private mutating func nextPartData() async throws -> ByteBuffer? {
        switch try await nextEvent() {
        case .partData(let range): slice(range)
        case .heldData(let bytes): ByteBuffer(bytes: bytes)
        case .partBegan, .partEnded, .finished, nil: nil
        }
    }

    /// Reads the data of the current part as text, and parses it if its field is JSON.
    private mutating func readValue(of field: String) async throws -> JSONValue {
        var bytes: [UInt8] = []
        while let piece = try await nextPartData() {
            guard bytes.count + piece.readableBytes <= limits.textBytes else {
                throw APIError(.payloadTooLarge, "A field is longer than \(limits.textBytes) bytes", field: field)
            }
            bytes.append(contentsOf: piece.readableBytesView)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw APIError(.invalidRequest, "A field is not UTF-8", field: field)
        }
        guard fields.json.contains(field) else { return .string(text.showsNothing ? "" : text) }
        if text.isPlaceholder { return .null }
        do throws(JSONError) {
            return try JSONValue(parsing: bytes, limits: .request)
        } catch {
            throw APIError(error, byteCount: bytes.count, field: field)
        }
    }

    private static func refusal(_ error: MultipartError) -> APIError {
        // What came had parts: the rest was cut off on its way.
        if error.code == .truncated { return .cutOff("The body ends before its closing boundary", error) }
        let message =
            switch error.code {
            case .missingBoundary: "The boundary that Content-Type names does not occur where the body begins"
            case .truncated: "The body ends too early"
            case .malformedHeader, .missingName: "A part of the body has no usable Content-Disposition"
            case .unsupportedTransferEncoding: "Parts of the body must not be transfer-encoded"
            case .limitExceeded: "The body has too many parts, or parts with too long headers"
            case .malformedDelimiter, .badBoundary, .notMultipart: "The body does not follow its boundary"
            }
        return APIError(.invalidRequest, message, underlying: error)
    }
}
