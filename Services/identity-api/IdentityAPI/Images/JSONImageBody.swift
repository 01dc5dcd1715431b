internal import Hummingbird
internal import JSON
internal import NIOCore

/// `application/json` with the picture in base64.
struct JSONImageBody: UploadBody {
    /// The field of the picture.
    static let pictureField = "image_base64"

    private var chunks: BodyChunks
    private var parser: JSONStreamParser
    private var decoder = DataURIDecoder()
    private var textLeft: Int
    /// The field of a picture that has begun, until its first bytes arrive: an empty text is not a picture.
    private var begun: String?
    /// The pieces that were read and are not returned yet.
    private var due: [UploadPiece] = []
    private let limits: UploadLimits

    init(_ body: RequestBody, limits: UploadLimits) {
        chunks = BodyChunks(body, maxBytes: limits.imageBodyBytes)
        parser = JSONStreamParser(streaming: [Self.pictureField], reading: ImageOrderFields.names)
        let characters = (limits.pictureBytes + 2) / 3 * 4
        // Two more characters for each line of 64, the shortest lines that encoders write.
        textLeft = characters + characters / 64 * 2 + DataURIDecoder.maxPrefixLength
        self.limits = limits
    }

    mutating func next() async throws -> UploadPiece? {
        repeat {
            if let piece = try nextPiece() { return piece }
        } while try await chunks.advance()
        do throws(JSONError) {
            try parser.finish()
        } catch {
            // A part of a body means that the rest was cut off on its way. No body at all is a mistake of the app.
            throw chunks.isEmpty ? APIError(.invalidRequest, "The body is empty") : .cutOff("The JSON ends too early", error)
        }
        return nil
    }

    /// Returns the next piece of the chunk; nil when the next chunk is needed.
    ///
    /// Not inlined: inside of the coroutine of ``next()`` it crashes the optimiser of Swift 6.3.1 (signal 11, while splitting coroutines).
    @inline(never)
    private mutating func nextPiece() throws(APIError) -> UploadPiece? {
        if due.isEmpty { try readPieces() }
        return due.isEmpty ? nil : due.removeFirst()
    }

    /// Parses the chunk up to the next piece. The picture's bytes are collected over the whole chunk: otherwise every escaped slash of the
    /// base64 would end a piece.
    private mutating func readPieces() throws(APIError) {
        var decoded: [UInt8] = []
        while let event = try nextEvent(decodingInto: &decoded) {
            switch event {
            case .member(let name, let value): due.append(.field(name, value))
            case .textBegan(let name): begun = name
            case .textEnded:
                take(decoded)
                if begun.take() == nil { due.append(.pictureEnded) }
                decoded = []
            case .text, .escaped, .finished: continue
            }
            if !due.isEmpty { return }
        }
        take(decoded)
    }

    private mutating func take(_ decoded: [UInt8]) {
        guard !decoded.isEmpty else { return }
        if let name = begun.take() { due.append(.pictureBegan(name)) }
        due.append(.pictureData(ByteBuffer(bytes: decoded)))
    }

    private mutating func nextEvent(decodingInto decoded: inout [UInt8]) throws(APIError) -> JSONStreamEvent? {
        let event: JSONStreamEvent?
        do throws(JSONError) {
            event = try decodeNextEvent(into: &decoded)
        } catch {
            throw refusal(error)
        }
        guard textLeft >= 0 else {
            let message = "A picture is larger than \(limits.pictureBytes / 1_048_576) MB"
            throw APIError(.payloadTooLarge, message, field: Self.pictureField)
        }
        return event
    }

    private mutating func decodeNextEvent(into decoded: inout [UInt8]) throws(JSONError) -> JSONStreamEvent? {
        let chunk = chunks.chunk
        return try chunk.withUnsafeReadableBytes { bytes throws(JSONError) in
            let bytes = RawSpan(_unsafeBytes: bytes)
            let event = try parser.nextEvent(in: bytes, at: &chunks.position)
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
        case .badBase64, .notASCII:
            APIError(.invalidImage, "The picture is not base64: \(error.message)", field: Self.pictureField, underlying: error)
        case .notString: APIError(.invalidRequest, "The picture must be a text", field: Self.pictureField, underlying: error)
        case .limitExceeded: APIError(.invalidRequest, "The JSON has too much beside the picture", underlying: error)
        case .duplicateName, .truncated, .malformed: APIError(error, byteCount: .max)
        }
    }
}
