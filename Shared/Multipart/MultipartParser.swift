/// The next element that a ``MultipartParser`` found.
public enum MultipartEvent: Sendable, Equatable {
    /// The start of a part.
    case partBegan(MultipartPartHeaders)
    /// Data of the part: the bytes at these offsets of the chunk, which the parser does not copy.
    case partData(Range<Int>)
    /// Data of the part at the end of an earlier chunk, held back because it could have been a boundary.
    case heldData([UInt8])
    /// The part is complete.
    case partEnded
    /// The closing boundary was read; the bytes after it are ignored.
    case finished
}

/// Parses a `multipart/form-data` body (RFC 7578, RFC 2046) as it arrives, without doing any input or output.
///
/// Feed it the chunks of the body in order, each until ``nextEvent(in:at:)`` returns nil, and call ``finish()`` at the
/// end of the body. It buffers at most one header block; part data stays in the caller's chunk.
///
/// A line that begins with the boundary but continues with other bytes is an error, not data: RFC 2046 §5.1.1 forbids the boundary in
/// the data, and if two parsers disagree about the end of a part, an attacker can smuggle one past the other.
public struct MultipartParser: Sendable {
    enum State: Equatable {
        /// Before the first boundary.
        case preamble
        /// In the data of a part.
        case data
        /// Directly after a boundary: padding, a line end, or the two dashes that close the body.
        case delimiterLine(Tail)
        /// In the header block of a part.
        case headers
        /// After the closing boundary.
        case epilogue
    }

    enum Tail { case start, padding, dash, carriageReturn }

    let limits: MultipartLimits
    var search: DelimiterSearch
    var state = State.preamble
    /// Whether a part is open, so that the next boundary ends it.
    var isInPart = false
    var isFinished = false
    var headerBlock: [UInt8] = []
    var partCount = 0
    var skippedBytes = 0
    var paddingBytes = 0

    /// Creates a parser for one body.
    public init(boundary: MultipartBoundary, limits: MultipartLimits = MultipartLimits()) {
        self.limits = limits
        self.search = DelimiterSearch(boundary.delimiter)
        // The first boundary needs no line end before it.
        self.search.beginLine()
    }

    /// Returns the next event in the chunk, or nil when the chunk is consumed and the next one is needed.
    ///
    /// - Parameters:
    ///   - chunk: bytes of the body; the same chunk until nil is returned.
    ///   - position: the offset up to which the chunk is read; start with 0.
    /// - Throws: ``MultipartError``; the parser must not be used after that.
    public mutating func nextEvent(
        in chunk: RawSpan, at position: inout Int
    ) throws(MultipartError) -> MultipartEvent? {
        while true {
            switch state {
            case .preamble:
                guard try skipPreamble(in: chunk, at: &position) else { return nil }
            case .data:
                return search.next(in: chunk, at: &position).map { found in
                    switch found {
                    case .data(let range): return .partData(range)
                    case .held(let bytes): return .heldData(bytes)
                    case .delimiter:
                        state = .delimiterLine(.start)
                        isInPart = false
                        return .partEnded
                    }
                }
            case .delimiterLine(let tail):
                guard position < chunk.byteCount else { return nil }
                try advance(tail, with: chunk.byte(at: position))
                position += 1
            case .headers:
                guard let headers = try readHeaders(in: chunk, at: &position) else { return nil }
                state = .data
                isInPart = true
                return .partBegan(headers)
            case .epilogue:
                if !isFinished {
                    isFinished = true
                    return .finished
                }
                position = chunk.byteCount
                return nil
            }
        }
    }

    /// Checks that the body was complete when it ended.
    ///
    /// - Throws: `truncated` when the closing boundary was not read, `missingBoundary` when no boundary was read.
    public func finish() throws(MultipartError) {
        if state == .preamble { throw MultipartError(.missingBoundary, "no boundary in the body") }
        guard case .epilogue = state else {
            throw MultipartError(.truncated, "the body ended after \(partCount) parts, before its closing boundary")
        }
    }
}

extension MultipartParser {
    /// Discards the bytes before the first boundary; true when the boundary is found.
    private mutating func skipPreamble(in chunk: RawSpan, at position: inout Int) throws(MultipartError) -> Bool {
        while let found = search.next(in: chunk, at: &position) {
            switch found {
            case .data(let range): skippedBytes += range.count
            case .held(let bytes): skippedBytes += bytes.count
            case .delimiter:
                state = .delimiterLine(.start)
                return true
            }
            guard skippedBytes <= limits.preambleBytes else {
                throw MultipartError(.missingBoundary, "no boundary within the first \(limits.preambleBytes) bytes")
            }
        }
        return false
    }

    /// Reads one byte after a boundary on its line.
    private mutating func advance(_ tail: Tail, with byte: UInt8) throws(MultipartError) {
        switch (tail, byte) {
        case (.start, UInt8(ascii: "-")):
            state = .delimiterLine(.dash)
        case (.dash, UInt8(ascii: "-")):
            state = .epilogue
        case (.start, UInt8(ascii: " ")), (.start, UInt8(ascii: "\t")),
            (.padding, UInt8(ascii: " ")), (.padding, UInt8(ascii: "\t")):
            paddingBytes = tail == .start ? 1 : paddingBytes + 1
            guard paddingBytes <= limits.paddingBytes else {
                throw MultipartError(.limitExceeded, "more than \(limits.paddingBytes) blanks behind a boundary")
            }
            state = .delimiterLine(.padding)
        case (.start, UInt8(ascii: "\r")), (.padding, UInt8(ascii: "\r")):
            state = .delimiterLine(.carriageReturn)
        case (.carriageReturn, UInt8(ascii: "\n")):
            guard partCount < limits.parts else {
                throw MultipartError(.limitExceeded, "more than \(limits.parts) parts")
            }
            partCount += 1
            headerBlock.removeAll(keepingCapacity: true)
            state = .headers
        default:
            throw MultipartError(.malformedDelimiter, "a boundary is followed by neither a line end nor two dashes")
        }
    }

    /// Collects a header block up to its blank line; nil when the chunk ends first.
    private mutating func readHeaders(
        in chunk: RawSpan, at position: inout Int
    ) throws(MultipartError) -> MultipartPartHeaders? {
        while position < chunk.byteCount {
            headerBlock.append(chunk.byte(at: position))
            position += 1
            guard headerBlock.count <= limits.headerBytes else {
                throw MultipartError(.limitExceeded, "a header block of more than \(limits.headerBytes) bytes")
            }
            guard headerBlock.last == UInt8(ascii: "\n"), endsWithBlankLine else { continue }
            headerBlock.removeLast(2)
            // In a part without data, the line end of the blank line may already belong to the boundary.
            search.beginLine()
            return try MultipartPartHeaders(block: headerBlock, limits: limits)
        }
        return nil
    }

    private var endsWithBlankLine: Bool {
        headerBlock.count == 2 ? headerBlock[0] == UInt8(ascii: "\r") : headerBlock.suffix(4).elementsEqual([13, 10, 13, 10])
    }
}

extension RawSpan {
    func byte(at offset: Int) -> UInt8 { unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
}
