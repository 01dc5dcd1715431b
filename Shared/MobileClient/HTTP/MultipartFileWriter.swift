public import Foundation

/// Writes the body of a `multipart/form-data` request to a file, as background uploads need it.
///
/// Files are read and written in pieces, so that the memory does not grow with them.
public struct MultipartFileWriter: Sendable {
    /// One field of the form.
    public struct Part: Sendable, Equatable {
        /// The content of a field.
        public enum Content: Sendable, Equatable {
            case text(String)
            case data(Data)
            /// The content of a file, which must not change while it is read.
            case file(URL)
        }

        /// The name of the field in the form.
        public var name: String
        /// The name of a file that is sent; nil for a plain field.
        public var fileName: String?
        /// The media type, for example `image/jpeg`; nil for a plain field.
        public var contentType: String?
        /// The bytes of the field: a text, data or a file.
        public var content: Content

        /// Creates a field; one with a `fileName` is sent as a file.
        public init(_ name: String, fileName: String? = nil, contentType: String? = nil, _ content: Content) {
            self.name = name
            self.fileName = fileName
            self.contentType = contentType
            self.content = content
        }
    }

    /// A body that was written.
    public struct Written: Sendable, Equatable {
        /// The file with the body, which the caller removes.
        public let file: URL
        /// The boundary, for the header `Content-Type`.
        public let boundary: String
        /// The bytes of the file.
        public let length: Int
    }

    /// The bytes of the API's longest body.
    public static let maxBytesOfAPI = 96 << 20
    private static let pieceBytes = 64 << 10

    private let maxBytes: Int

    /// - Parameter maxBytes: The bytes of the longest body that is written.
    public init(maxBytes: Int = Self.maxBytesOfAPI) { self.maxBytes = maxBytes }

    /// Writes a body to a file, which must not exist; after an error it does not exist.
    ///
    /// Until it is complete, the file has a name of its own that ends in `.part`; if the process ends, that file may remain.
    /// - Throws: `invalid_argument` when a name is empty or has a control character or a backslash; `payload_too_large` when the body
    ///   would be longer than `maxBytes`,
    ///   before anything is written; `storage` when a file cannot be read or written, or changes meanwhile; `cancelled`.
    public func write(_ parts: [Part], to file: URL) async throws(HeliographError) -> Written {
        let isCancelled = Locked(false)
        let result: Result<Written, HeliographError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // On a thread that may block: the files are large.
                DispatchQueue.global(qos: .userInitiated).async {
                    continuation.resume(
                        returning: Result { () throws(HeliographError) in
                            try write(parts, to: file, isCancelled: { isCancelled.withLock { $0 } })
                        })
                }
            }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
        return try result.get()
    }

    private func write(_ parts: [Part], to file: URL, isCancelled: () -> Bool) throws(HeliographError) -> Written {
        // 122 random bits: that they occur in a photo need not be considered.
        let boundary = "heliograph-" + UUID().wireText
        let end = Data("--\(boundary)--\r\n".utf8)
        var pieces: [(head: Data, content: Part.Content, bytes: Int)] = []
        var length = end.count
        for part in parts {
            let head = try Self.head(of: part, boundary)
            let bytes = try Self.bytes(of: part.content)
            pieces.append((head, part.content, bytes))
            length += head.count + bytes + 2
            guard length <= maxBytes else { throw HeliographError(.payloadTooLarge, "The body is longer than \(maxBytes) bytes") }
        }
        do {
            let output = try PartialFile(of: file)
            do {
                for (head, content, bytes) in pieces {
                    try output.write(head)
                    try Self.copy(content, bytes, to: output, isCancelled: isCancelled)
                    try output.write(Data("\r\n".utf8))
                }
                try output.write(end)
            } catch {
                try? output.end(keeping: false)
                throw error
            }
            try output.end(keeping: true)
        } catch {
            throw (error as? HeliographError) ?? HeliographError(.storage, "The body cannot be written: \(error)")
        }
        return Written(file: file, boundary: boundary, length: length)
    }

    private static func copy(_ content: Part.Content, _ bytes: Int, to output: PartialFile, isCancelled: () -> Bool) throws {
        switch content {
        case .text(let text): return try output.write(Data(text.utf8))
        case .data(let data): return try output.write(data)
        case .file(let url):
            let input = try FileHandle(forReadingFrom: url)
            defer { try? input.close() }
            var left = bytes
            while left > 0 {
                if isCancelled() { throw HeliographError(.cancelled, "The task was cancelled") }
                guard let piece = try input.read(upToCount: min(left, pieceBytes)), !piece.isEmpty else { break }
                try output.write(piece)
                left -= piece.count
            }
            guard left == 0, try input.read(upToCount: 1)?.isEmpty ?? true else {
                throw HeliographError(.storage, "A file has changed while it was read")
            }
        }
    }

    private static func bytes(of content: Part.Content) throws(HeliographError) -> Int {
        switch content {
        case .text(let text): return text.utf8.count
        case .data(let data): return data.count
        case .file(let url):
            guard let attributes = try? FileManager.default.attributesOfItem(atPath: url.path),
                attributes[.type] as? FileAttributeType == .typeRegular, let size = (attributes[.size] as? NSNumber)?.intValue
            else { throw HeliographError(.storage, "A file of the body cannot be read") }
            return size
        }
    }
}
