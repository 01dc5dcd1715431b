internal import JSON

/// The next element that a ``JSONStreamParser`` found.
enum JSONStreamEvent: Sendable, Equatable {
    /// A member that is not streamed.
    case member(String, JSONValue)
    /// The start of a member whose text is streamed.
    case textBegan(String)
    /// Bytes of the text: those at these offsets of the chunk, which the parser does not copy.
    case text(Range<Int>)
    /// A byte of the text that was escaped.
    case escaped(UInt8)
    /// The text is complete.
    case textEnded
    /// The object is complete.
    case finished
}

/// Parses a JSON object (RFC 8259) as it arrives, without doing any input or output: big texts are returned in pieces, all other
/// members are small and returned whole.
///
/// A byte order mark before the object is ignored.
///
/// Feed it the chunks of the body in order, each until ``nextEvent(in:at:)`` returns nil, and call ``finish()`` at the end.
/// It buffers one name or one small value; a streamed text stays in the caller's chunk. A streamed text is not checked to be UTF-8,
/// and only escapes of ASCII characters are accepted in it, because it is meant for base64 and the like.
struct JSONStreamParser: Sendable {
    enum State: Equatable {
        case mark, start, memberOrEnd, member, name, colon, value, text, textEscape, smallValue, commaOrEnd, end
    }

    private let streamed: Set<String>
    private let read: Set<String>?
    private let limits: JSONStreamLimits
    private var state = State.mark
    private var markBytes = 0
    private var names: Set<String> = []
    private var name = ""
    /// The bytes read so far of a name, a small value or an escape.
    private var held: [UInt8] = []
    private var blanks = 0
    private var value = ValueEnd()
    /// Whether the current value exceeds the maximum length of kept values, and is skipped.
    private var isSkipped = false
    private var isFinished = false

    /// Creates a parser for one body.
    ///
    /// - Parameters:
    ///   - streamed: the members of the outer object whose value is a text that is returned in pieces.
    ///   - read: the other members that are read; nil for all. The values of other members are skipped, whatever their length, and their
    ///     numbers may have any size.
    init(streaming streamed: Set<String>, reading read: Set<String>? = nil, limits: JSONStreamLimits = JSONStreamLimits()) {
        self.streamed = streamed
        self.read = read
        self.limits = limits
    }

    /// Returns the next event in the chunk, or nil when the chunk is consumed and the next one is needed.
    ///
    /// - Parameters:
    ///   - chunk: bytes of the body; the same chunk until nil is returned.
    ///   - position: the offset up to which the chunk is read; start with 0.
    /// - Throws: ``JSONError``; the parser must not be used after that.
    mutating func nextEvent(
        in chunk: RawSpan, at position: inout Int
    ) throws(JSONError) -> JSONStreamEvent? {
        while position < chunk.byteCount {
            let byte = chunk.unsafeLoad(fromByteOffset: position, as: UInt8.self)
            switch state {
            case .mark:
                if try takeMarkByte(byte) { position += 1 }
            case .name:
                position += 1
                if try takeNameByte(byte) { state = .colon }
            case .text:
                if let event = try takeText(chunk, byte, at: &position) { return event }
            case .textEscape:
                position += 1
                if let escaped = try takeEscapeByte(byte) { return .escaped(escaped) }
            case .smallValue:
                if let event = try takeValueByte(byte, at: &position) { return event }
            default:
                position += 1
                if JSONString.isBlank(byte) {
                    blanks += 1
                    guard blanks <= limits.maxBlankBytes else { throw JSONError(.limitExceeded, "too much white space") }
                    continue
                }
                blanks = 0
                if let event = try take(byte, at: &position) { return event }
            }
        }
        guard state == .end, !isFinished else { return nil }
        isFinished = true
        return .finished
    }

    /// Checks that the body was complete when it ended.
    ///
    /// - Throws: `truncated` when the object had not ended.
    func finish() throws(JSONError) {
        guard state == .end else { throw JSONError(.truncated, "the body ended after \(names.count) members") }
    }

    /// Takes a byte of the mark before the body; false if it is not one.
    private mutating func takeMarkByte(_ byte: UInt8) throws(JSONError) -> Bool {
        guard byte == JSONString.byteOrderMark[markBytes] else {
            guard markBytes == 0 else { throw JSONError(.malformed, "Expected an object.") }
            state = .start
            return false
        }
        markBytes += 1
        if markBytes == JSONString.byteOrderMark.count { state = .start }
        return true
    }

    /// Takes a byte between tokens, or the first one of a token.
    private mutating func take(_ byte: UInt8, at position: inout Int) throws(JSONError) -> JSONStreamEvent? {
        switch (state, byte) {
        case (.start, UInt8(ascii: "{")): state = .memberOrEnd
        case (.memberOrEnd, UInt8(ascii: "}")), (.commaOrEnd, UInt8(ascii: "}")): state = .end
        case (.memberOrEnd, UInt8(ascii: "\"")), (.member, UInt8(ascii: "\"")): state = .name
        case (.commaOrEnd, UInt8(ascii: ",")): state = .member
        case (.colon, UInt8(ascii: ":")): state = .value
        case (.value, UInt8(ascii: "\"")) where streamed.contains(name):
            state = .text
            return .textBegan(name)
        case (.value, _):
            // Null counts as absent, and is a small value.
            guard !streamed.contains(name) || byte == UInt8(ascii: "n") else {
                throw JSONError(.notString, "a streamed member is not a string")
            }
            state = .smallValue
            (value, isSkipped) = (ValueEnd(), false)
            position -= 1
        default:
            throw JSONError(.malformed, "Expected \(state.expected).")
        }
        return nil
    }

    /// Takes a byte of a name; true at its end.
    private mutating func takeNameByte(_ byte: UInt8) throws(JSONError) -> Bool {
        if byte == UInt8(ascii: "\""), !Self.endsInEscape(held) {
            name = try JSONString.decode(held[...])
            held = []
            guard names.insert(name).inserted else { throw JSONError(.duplicateName, "Repeated object key.") }
            guard names.count <= limits.maxMembers else { throw JSONError(.limitExceeded, "more than \(limits.maxMembers) members") }
            return true
        }
        held.append(byte)
        guard held.count <= limits.maxNameBytes else { throw JSONError(.limitExceeded, "a name over \(limits.maxNameBytes) bytes") }
        return false
    }

    /// Whether the next byte is escaped: the number of backslashes at the end is odd.
    private static func endsInEscape(_ bytes: [UInt8]) -> Bool {
        (bytes.lastIndex { $0 != UInt8(ascii: "\\") }.map { bytes.count - 1 - $0 } ?? bytes.count) % 2 == 1
    }

    /// Takes the longest unescaped piece of a text in the chunk; nil where an escape begins.
    private mutating func takeText(
        _ chunk: RawSpan, _ byte: UInt8, at position: inout Int
    ) throws(JSONError) -> JSONStreamEvent? {
        let start = position
        position = Self.endOfPlainText(in: chunk, from: start)
        if position > start { return .text(start..<position) }
        position += 1
        switch byte {
        case UInt8(ascii: "\""):
            state = .commaOrEnd
            return .textEnded
        case UInt8(ascii: "\\"):
            state = .textEscape
            return nil
        default:
            throw JSONError(.malformed, "Illegal control character in string.")
        }
    }

    private mutating func takeEscapeByte(_ byte: UInt8) throws(JSONError) -> UInt8? {
        if held.isEmpty, byte != UInt8(ascii: "u") {
            guard let escaped = JSONString.simpleEscape(byte) else {
                throw JSONError(.malformed, "Invalid escape sequence.")
            }
            state = .text
            return escaped
        }
        held.append(byte)
        guard held.count == 5 else { return nil }
        let digits = held.dropFirst().compactMap(JSONString.hexDigit)
        guard digits.count == 4 else { throw JSONError(.malformed, "Illegal hex string.") }
        guard digits[0] == 0, digits[1] == 0, digits[2] < 8 else {
            throw JSONError(.notASCII, "an escape of a character that is not ASCII")
        }
        held = []
        state = .text
        return digits[2] << 4 | digits[3]
    }

    private mutating func takeValueByte(_ byte: UInt8, at position: inout Int) throws(JSONError) -> JSONStreamEvent? {
        let place = value.advance(byte)
        if place == .behind { return try completeValue() }
        if !isSkipped { held.append(byte) }
        position += 1
        if held.count > limits.maxValueBytes {
            guard let read, !read.contains(name) else { throw JSONError(.limitExceeded, "a value over \(limits.maxValueBytes) bytes") }
            (held, isSkipped) = ([], true)
        }
        return place == .lastByte ? try completeValue() : nil
    }

    /// Returns the value that has ended; nil for a skipped value.
    private mutating func completeValue() throws(JSONError) -> JSONStreamEvent? {
        state = .commaOrEnd
        if isSkipped { return nil }
        let value = try JSONValue(parsing: held, limits: JSONLimits(allowsNumbersOutOfRange: read != nil))
        held = []
        return .member(name, value)
    }

    /// The offset of the first byte that ends a text, begins an escape or is not allowed.
    private static func endOfPlainText(in chunk: RawSpan, from start: Int) -> Int {
        chunk.withUnsafeBytes { bytes in
            var end = start
            while end < bytes.count {
                let byte = bytes[end]
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20 { break }
                end &+= 1
            }
            return end
        }
    }
}

extension JSONStreamParser.State {
    /// The characters that may follow, for an error.
    fileprivate var expected: String {
        switch self {
        case .mark, .start: "an object"
        case .memberOrEnd: "an object key or }"
        case .member, .name: "an object key"
        case .colon: ": between key:value pair"
        case .commaOrEnd: ", or } after key:value pair"
        case .value, .text, .textEscape, .smallValue: "a value"
        case .end: "nothing after the object"
        }
    }
}

/// Finds the end of a small value, without validating it.
private struct ValueEnd: Sendable {
    enum Place { case inside, lastByte, behind }

    private var depth = 0
    private var isInText = false
    private var isEscaped = false
    private var isBare = false

    mutating func advance(_ byte: UInt8) -> Place {
        if isInText {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isInText = false
                return depth == 0 ? .lastByte : .inside
            }
            return .inside
        }
        switch byte {
        case UInt8(ascii: "\"") where !isBare:
            isInText = true
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            if isBare { return .behind }
            depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            // A bracket without a match in the value belongs to the outer object and ends a bare value.
            guard depth > 0 else { return .behind }
            depth -= 1
            return depth == 0 ? .lastByte : .inside
        case UInt8(ascii: ",") where depth == 0:
            return .behind
        case _ where JSONString.isBlank(byte) && depth == 0:
            return .behind
        default:
            if depth == 0 { isBare = true }
        }
        return .inside
    }
}
