/// Finds a delimiter in a stream of chunks, without copying the data before it.
///
/// The delimiter begins with a carriage return and has no other one (a boundary cannot contain any), which simplifies two things:
/// a failed partial match never hides the start of another, and held-back bytes are a prefix of the delimiter itself. Inside a chunk
/// the search is Horspool's: it examines about one byte per length of the delimiter.
struct DelimiterSearch: Sendable {
    enum Found: Equatable {
        /// Data at these offsets of the chunk.
        case data(Range<Int>)
        /// Data at the end of earlier chunks that was held back because it could have been a delimiter.
        case held([UInt8])
        /// The complete delimiter.
        case delimiter
    }

    private let delimiter: [UInt8]
    /// Distance by which the window may move, indexed by its last byte.
    private let shift: [UInt8]
    /// Number of matched bytes of the delimiter, and how many of those were never part of the data.
    private var matched = 0
    private var assumed = 0

    init(_ delimiter: [UInt8]) {
        self.delimiter = delimiter
        // A boundary has at most 70 characters, so every distance fits a byte.
        var shift = [UInt8](repeating: UInt8(delimiter.count), count: 256)
        for index in 0..<(delimiter.count - 1) { shift[Int(delimiter[index])] = UInt8(delimiter.count - 1 - index) }
        self.shift = shift
    }

    /// Counts the line end of the delimiter as matched, because a line begins here.
    mutating func beginLine() {
        matched = 2
        assumed = 2
    }

    /// Returns the next finding, or nil when the chunk is consumed.
    mutating func next(in chunk: RawSpan, at position: inout Int) -> Found? {
        while position < chunk.byteCount {
            if matched > 0 {
                guard let found = resume(in: chunk, at: &position) else { continue }
                return found
            }
            let start = position
            let end = find(in: chunk, from: start)
            position = min(end + matched, chunk.byteCount)
            if end > start { return .data(start..<end) }
            if matched == delimiter.count { return complete() }
        }
        // Data in front of a delimiter is reported first; the delimiter itself then needs no further byte.
        return matched == delimiter.count ? complete() : nil
    }

    private mutating func complete() -> Found {
        matched = 0
        assumed = 0
        return .delimiter
    }

    /// Continues a match that began in an earlier chunk or with the start of a line.
    private mutating func resume(in chunk: RawSpan, at position: inout Int) -> Found? {
        while matched < delimiter.count, position < chunk.byteCount {
            guard chunk.byte(at: position) == delimiter[matched] else {
                let held = Array(delimiter[assumed..<matched])
                matched = 0
                assumed = 0
                return held.isEmpty ? nil : .held(held)
            }
            matched += 1
            position += 1
        }
        return matched == delimiter.count ? complete() : nil
    }

    /// Returns the end of the data: at a delimiter (`matched` is then its length), at a partial match at the end of the chunk
    /// (`matched` is then the length of that match), or at the end of the chunk.
    private mutating func find(in chunk: RawSpan, from start: Int) -> Int {
        let length = delimiter.count
        return chunk.withUnsafeBytes { bytes in
            delimiter.withUnsafeBufferPointer { delimiter in
                var window = start
                while window + length <= bytes.count {
                    let last = bytes[window + length - 1]
                    if last == delimiter[length - 1], matches(bytes, at: window, delimiter, count: length - 1) {
                        matched = length
                        return window
                    }
                    window += Int(shift[Int(last)])
                }
                var tail = max(start, bytes.count - length + 1)
                while tail < bytes.count {
                    if bytes[tail] == delimiter[0], matches(bytes, at: tail, delimiter, count: bytes.count - tail) {
                        matched = bytes.count - tail
                        return tail
                    }
                    tail += 1
                }
                return bytes.count
            }
        }
    }

    private func matches(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, _ delimiter: UnsafeBufferPointer<UInt8>, count: Int
    ) -> Bool {
        for index in 0..<count where bytes[offset + index] != delimiter[index] { return false }
        return true
    }
}
