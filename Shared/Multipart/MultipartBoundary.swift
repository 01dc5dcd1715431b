/// The separator of a multipart body, taken from the `Content-Type` of the request and checked.
public struct MultipartBoundary: Sendable, Equatable {
    /// The maximum number of characters of a boundary. RFC 2046 §5.1.1 allows 70; more cost nothing.
    public static let maxLength = 200

    /// The boundary from the header, without the leading dashes.
    public let value: String

    /// Creates a boundary of 1 to 200 printable characters of ASCII. The last one is not a space.
    ///
    /// RFC 2046 allows fewer characters; clients send asterisks and other characters as well, and they do no harm.
    public init(_ value: String) throws(MultipartError) {
        let bytes = value.utf8
        guard !bytes.isEmpty, bytes.count <= Self.maxLength else {
            throw MultipartError(.badBoundary, "a boundary has 1 to \(Self.maxLength) characters, not \(bytes.count)")
        }
        guard bytes.allSatisfy({ 0x20...0x7E ~= $0 }), bytes.last != UInt8(ascii: " ") else {
            throw MultipartError(.badBoundary, "a character of the boundary is not printable ASCII")
        }
        self.value = value
    }

    /// Reads the boundary from the value of a `Content-Type` header.
    ///
    /// - Throws: `notMultipart` for another type, `badBoundary` without a valid boundary.
    public init(contentType: String) throws(MultipartError) {
        var scanner = HeaderScanner(Array(contentType.utf8)[...])
        guard scanner.takeToken(extra: UInt8(ascii: "/"))?.lowercased() == "multipart/form-data" else {
            throw MultipartError(.notMultipart, "the content type is not multipart/form-data")
        }
        var found: String?
        for (name, value) in try scanner.takeParameters(escapes: .quotedPair, else: .badBoundary) where name == "boundary" {
            guard found == nil else { throw MultipartError(.badBoundary, "two boundaries in one content type") }
            found = value
        }
        guard let found else { throw MultipartError(.badBoundary, "the content type has no boundary") }
        try self.init(found)
    }

    /// The bytes that end a part: line end, two dashes, boundary.
    var delimiter: [UInt8] { Array("\r\n--\(value)".utf8) }
}
