/// The headers of a part.
public struct MultipartPartHeaders: Sendable, Equatable {
    /// The field of the form, from `Content-Disposition`.
    public let name: String
    /// The file name from the sender, which must not be trusted; nil for a plain field.
    public let filename: String?
    /// The `Content-Type` from the sender, which must not be trusted; nil when it is missing.
    public let contentType: String?

    /// Creates headers from values, for tests and other sources of parts.
    public init(name: String, filename: String? = nil, contentType: String? = nil) {
        self.name = name
        self.filename = filename
        self.contentType = contentType
    }

    /// Parses a header block without its blank line.
    ///
    /// Headers that RFC 7578 does not define are skipped, as its §4.8 requires.
    init(block: [UInt8], limits: MultipartLimits) throws(MultipartError) {
        var disposition: ArraySlice<UInt8>?
        var contentType: String?
        for line in try Self.unfold(block, limits: limits) {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
                line[..<colon].allSatisfy(HeaderScanner.isTokenByte)
            else { throw MultipartError(.malformedHeader, "a header line without a name") }
            let value = line[line.index(after: colon)...]
            switch String(decoding: line[..<colon], as: UTF8.self).lowercased() {
            case "content-disposition":
                guard disposition == nil else { throw MultipartError(.malformedHeader, "two dispositions in one part") }
                disposition = value
            case "content-type":
                contentType = Self.trimmed(value)
            case "content-transfer-encoding":
                let encoding = Self.trimmed(value).lowercased()
                guard ["7bit", "8bit", "binary"].contains(encoding) else {
                    throw MultipartError(.unsupportedTransferEncoding, "only 7bit, 8bit and binary parts are taken")
                }
            default:
                break
            }
        }
        guard let disposition else { throw MultipartError(.malformedHeader, "a part without a disposition") }
        (self.name, self.filename) = try Self.parseDisposition(disposition)
        self.contentType = contentType
    }

    private static func parseDisposition(
        _ value: ArraySlice<UInt8>
    ) throws(MultipartError) -> (name: String, filename: String?) {
        var scanner = HeaderScanner(value)
        guard scanner.takeToken()?.lowercased() == "form-data" else {
            throw MultipartError(.malformedHeader, "a disposition other than form-data")
        }
        var seen: [String: String] = [:]
        for (name, value) in try scanner.takeParameters(escapes: .formData, else: .malformedHeader) {
            guard seen.updateValue(value, forKey: name) == nil else {
                throw MultipartError(.malformedHeader, "a parameter given twice in one disposition")
            }
        }
        guard let name = seen["name"], !name.isEmpty else {
            throw MultipartError(.missingName, "a part without a field name")
        }
        // The plain name is used when the extended one is missing or invalid (RFC 6266 §4.3).
        return (name, seen["filename*"].flatMap(HeaderScanner.decodeExtended) ?? seen["filename"])
    }

    /// Splits a block into lines and joins folded ones; refuses stray line ends and control characters.
    private static func unfold(
        _ block: [UInt8], limits: MultipartLimits
    ) throws(MultipartError) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var start = 0
        while start < block.count {
            let end = block[start...].firstIndex(of: UInt8(ascii: "\r")) ?? block.count
            guard end + 1 < block.count, block[end + 1] == UInt8(ascii: "\n") else {
                throw MultipartError(.malformedHeader, "a header line without its line end")
            }
            let line = block[start..<end]
            guard !line.contains(where: { $0 < 0x20 && $0 != UInt8(ascii: "\t") || $0 == 0x7F }) else {
                throw MultipartError(.malformedHeader, "a control character in a header")
            }
            if line.first == UInt8(ascii: " ") || line.first == UInt8(ascii: "\t"), !lines.isEmpty {
                lines[lines.count - 1] = (Array(lines[lines.count - 1]) + line)[...]
            } else {
                lines.append(line)
            }
            guard lines.count <= limits.headerLines else {
                throw MultipartError(.limitExceeded, "more than \(limits.headerLines) header lines in a part")
            }
            start = end + 2
        }
        return lines
    }

    private static func trimmed(_ value: ArraySlice<UInt8>) -> String {
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var text = value.drop(while: isBlank)
        while let last = text.last, isBlank(last) { text.removeLast() }
        return String(decoding: text, as: UTF8.self)
    }
}
