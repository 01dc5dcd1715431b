internal import Hummingbird
internal import JSON
internal import Multipart
internal import NIOCore

/// The next piece of the body of an image order.
enum ImageUploadPiece {
    /// A field beside the picture, whole and small.
    case field(String, JSONValue)
    /// The picture begins.
    case pictureBegan
    /// Bytes of the picture's file.
    case pictureData(ByteBuffer)
    /// The picture is complete.
    case pictureEnded
}

/// The body of an image order in one of its two formats; read piece by piece at the pace of its consumer.
protocol ImageUploadBody {
    /// The name of the picture's field.
    var pictureField: String { get }

    /// Returns the next piece, or nil when the body is complete.
    ///
    /// - Throws: ``APIError`` for a body that is not well formed, too big, too slow or cut short.
    mutating func next() async throws -> ImageUploadPiece?
}

/// `application/json` with the picture in base64.
struct JSONImageBody: ImageUploadBody {
    let pictureField = "image_base64"

    private var chunks: RequestBody.AsyncIterator
    private var parser: JSONStreamParser
    private var decoder = DataURIDecoder()
    private var chunk = ByteBuffer()
    private var position = 0
    private var bytesLeft: Int
    private var textLeft: Int
    /// Whether the end of the picture was read but not returned yet, because bytes are returned before it.
    private var isTextEndDue = false
    private let limits: UploadLimits

    init(_ body: RequestBody, limits: UploadLimits) {
        chunks = body.makeAsyncIterator()
        parser = JSONStreamParser(streaming: [pictureField])
        bytesLeft = limits.imageBodyBytes
        let characters = (limits.pictureBytes + 2) / 3 * 4
        // Two more characters for each line of 64, the shortest lines that encoders write.
        textLeft = characters + characters / 64 * 2 + DataURIDecoder.maxPrefixLength
        self.limits = limits
    }

    mutating func next() async throws -> ImageUploadPiece? {
        while true {
            if let piece = try nextInChunk() { return piece }
            guard let next = try await chunks.nextPiece() else { break }
            bytesLeft -= next.readableBytes
            guard bytesLeft >= 0 else { throw APIError(.payloadTooLarge, "The body is too large") }
            (chunk, position) = (next, 0)
        }
        do throws(JSONError) {
            try parser.finish()
        } catch {
            throw refusal(error)
        }
        return nil
    }

    /// Parses the chunk up to the next piece. The picture's bytes are collected over the whole chunk: otherwise every escaped slash of the
    /// base64 would end a piece.
    private mutating func nextInChunk() throws(APIError) -> ImageUploadPiece? {
        var decoded: [UInt8] = []
        while let event = try nextEvent(decodingInto: &decoded) {
            switch event {
            case .member(let name, let value): return .field(name, value)
            case .textBegan: return .pictureBegan
            case .textEnded where decoded.isEmpty: return .pictureEnded
            case .textEnded:
                isTextEndDue = true
                return .pictureData(ByteBuffer(bytes: decoded))
            case .text, .escaped, .finished: continue
            }
        }
        return decoded.isEmpty ? nil : .pictureData(ByteBuffer(bytes: decoded))
    }

    private mutating func nextEvent(decodingInto decoded: inout [UInt8]) throws(APIError) -> JSONStreamEvent? {
        if isTextEndDue {
            isTextEndDue = false
            return .textEnded
        }
        let event: JSONStreamEvent?
        do throws(JSONError) {
            event = try decodeNextEvent(into: &decoded)
        } catch {
            throw refusal(error)
        }
        guard textLeft >= 0 else {
            let message = "A picture is larger than \(limits.pictureBytes / 1_048_576) MB"
            throw APIError(.payloadTooLarge, message, field: pictureField)
        }
        return event
    }

    private mutating func decodeNextEvent(into decoded: inout [UInt8]) throws(JSONError) -> JSONStreamEvent? {
        let chunk = chunk
        return try chunk.withUnsafeReadableBytes { bytes throws(JSONError) in
            let bytes = RawSpan(_unsafeBytes: bytes)
            let event = try parser.nextEvent(in: bytes, at: &position)
            switch event {
            case .text(let range):
                // Text over the limit is not decoded.
                textLeft -= range.count
                if textLeft >= 0 { try decoder.decode(bytes.extracting(range), into: &decoded) }
            case .escaped(let byte):
                textLeft -= 1
                try withUnsafeBytes(of: byte) { byte throws(JSONError) in
                    try decoder.decode(RawSpan(_unsafeBytes: byte), into: &decoded)
                }
            case .textEnded:
                try decoder.finish(into: &decoded)
            case .member, .textBegan, .finished, nil:
                break
            }
            return event
        }
    }

    private func refusal(_ error: JSONError) -> APIError {
        switch error.code {
        case .badBase64: APIError(.invalidImage, "The picture is not base64", field: pictureField, underlying: error)
        case .notString: APIError(.invalidRequest, "The picture must be a text", field: pictureField, underlying: error)
        case .limitExceeded: APIError(.invalidRequest, "The JSON has too much beside the picture", underlying: error)
        case .duplicateName: APIError(.invalidRequest, "The JSON has a name twice", underlying: error)
        case .truncated: APIError(.invalidRequest, "The JSON ends too early", underlying: error)
        case .malformed: APIError(.invalidRequest, "The body is not JSON", underlying: error)
        }
    }
}

/// `multipart/form-data` with the picture as a file.
struct MultipartImageBody: ImageUploadBody {
    let pictureField = "image"

    private var body: MultipartBody
    private let limits: UploadLimits

    init(_ body: RequestBody, boundary: MultipartBoundary, limits: UploadLimits) {
        self.body = MultipartBody(body, boundary: boundary, maxBytes: limits.imageBodyBytes)
        self.limits = limits
    }

    mutating func next() async throws -> ImageUploadPiece? {
        while let piece = try await body.next() {
            switch piece {
            case .part(let headers) where headers.name == pictureField:
                return .pictureBegan
            case .part(let headers) where ImageOrderFields.names.contains(headers.name):
                return .field(headers.name, try Self.value(of: headers.name, try await body.readText(headers.name, limits)))
            case .part:
                try await body.skipPart()
            case .data(let bytes):
                return .pictureData(bytes)
            case .partEnd:
                return .pictureEnded
            }
        }
        return nil
    }

    /// Parses the text of a field: `options` and `async`, which are not texts in the JSON format, are written as JSON in a form too.
    private static func value(of name: String, _ text: String) throws(APIError) -> JSONValue {
        guard name == ImageOrderFields.options || name == ImageOrderFields.isAsync else { return .string(text) }
        do throws(JSONError) {
            return try JSONValue(parsing: Array(text.utf8))
        } catch {
            throw APIError(.invalidRequest, "A field is not the JSON that is asked for", field: name, underlying: error)
        }
    }
}

extension RequestBody.AsyncIterator {
    /// Reads more of the request; nil at its end.
    mutating func nextPiece() async throws -> ByteBuffer? {
        do {
            return try await next(isolation: #isolation)
        } catch let error as CancellationError {
            throw error
        } catch {
            throw APIError.unreadableBody(error)
        }
    }
}
