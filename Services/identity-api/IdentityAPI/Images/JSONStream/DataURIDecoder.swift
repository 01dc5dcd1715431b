internal import JSON

/// Decodes a text in base64, or a data URI in base64 (`data:image/jpeg;base64,…`, RFC 2397), as it arrives. White space does not count.
///
/// It buffers only the part of a data URI before its comma, and what ``Base64StreamDecoder`` buffers. The media type that a data URI
/// declares is ignored.
struct DataURIDecoder: Sendable {
    /// The maximum number of characters before the comma of a data URI.
    static let maxPrefixLength = 128

    private enum State { case start, prefix, data }

    private static let scheme = Array("data:".utf8)

    private var state = State.start
    private var held: [UInt8] = []
    private var base64 = Base64StreamDecoder()

    /// Decodes the next characters and appends the bytes they complete.
    ///
    /// - Throws: `badBase64` for any other text; the decoder must not be used after that.
    mutating func decode(_ text: RawSpan, into output: inout [UInt8]) throws(JSONError) {
        if state == .data { return try base64.decode(text, into: &output) }
        var position = 0
        while state != .data, position < text.byteCount {
            try take(text.unsafeLoad(fromByteOffset: position, as: UInt8.self))
            position += 1
        }
        guard state == .data else { return }
        try decodeHeld(into: &output)
        try base64.decode(text.extracting(position..<text.byteCount), into: &output)
    }

    /// Checks that the text was complete when it ended, and appends the bytes of its buffered part.
    mutating func finish(into output: inout [UInt8]) throws(JSONError) {
        guard state != .prefix else { throw JSONError(.badBase64, "a data URI without a comma") }
        // A text of less than five characters, which could have been the start of a scheme.
        try decodeHeld(into: &output)
        try base64.finish(into: &output)
    }

    private mutating func decodeHeld(into output: inout [UInt8]) throws(JSONError) {
        let first = held
        held = []
        try base64.decode(first.span.bytes, into: &output)
    }

    private mutating func take(_ byte: UInt8) throws(JSONError) {
        switch state {
        case .start:
            if held.isEmpty, JSONString.isBlank(byte) { return }
            let index = held.count
            held.append(byte)
            // Base64 has no colon, so a text that differs from the scheme is data.
            guard byte | 0x20 == Self.scheme[index] || byte == Self.scheme[index] else { return state = .data }
            if held.count == Self.scheme.count { (state, held) = (.prefix, []) }
        case .prefix:
            guard byte != UInt8(ascii: ",") else {
                try Self.check(held)
                held = []
                return state = .data
            }
            held.append(byte)
            guard held.count <= Self.maxPrefixLength else {
                throw JSONError(.badBase64, "a data URI with more than \(Self.maxPrefixLength) characters before its comma")
            }
        case .data:
            break
        }
    }

    /// Checks that the data is base64: `[type/subtype][;name=value…];base64`.
    private static func check(_ prefix: [UInt8]) throws(JSONError) {
        guard let text = String(validating: prefix, as: UTF8.self)?.lowercased() else {
            throw JSONError(.badBase64, "a data URI that is not UTF-8")
        }
        let parts = text.filter { !$0.isWhitespace }.split(separator: ";", omittingEmptySubsequences: false)
        guard parts.count >= 2, parts.last == "base64" else {
            throw JSONError(.badBase64, "a data URI without ;base64 before its comma")
        }
    }
}
