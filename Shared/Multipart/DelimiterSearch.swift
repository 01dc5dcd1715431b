/// Finds a delimiter in a stream of chunks, telling data from delimiter without copying the data.
///
/// The delimiter begins with a carriage return and has no other one (a boundary cannot hold any), which makes two
/// things simple: a failed partial match never hides the start of another, and what was held back is a prefix of the
/// delimiter itself. Inside a chunk the search is Horspool's: it looks at about one byte in every delimiter's length.
struct DelimiterSearch: Sendable {
    enum Found: Equatable {
        /// Data at these offsets of the chunk.
        case data(Range<Int>)
        /// Data that earlier chunks ended with.
        case held([UInt8])
        /// The delimiter, all of it.
        case delimiter
    }

    private let delimiter: [UInt8]
    /// How far the window may move when its last byte is the index.
    private let shift: [UInt8]
    /// How many bytes of the delimiter are matched, and how many of those were never part of the data.
    private var matched = 0
    private var assumed = 0

    init(_ delimiter: [UInt8]) {
        self.delimiter = delimiter
        // A boundary has at most 70 characters, so every distance fits a byte.
        var shift = [UInt8](repeating: UInt8(delimiter.count), count: 256)
        for index in 0..<(delimiter.count - 1) { shift[Int(delimiter[index])] = UInt8(delimiter.count - 1 - index) }
        self.shift = shift
    }

    /// Takes the line end of the delimiter as read: a line begins here.
    mutating func beginLine() {
        matched = 2
        assumed = 2
    }

    /// Returns what comes next, or nil when the chunk is used up.
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

    /// Goes on with a match that an earlier chunk, or the start of a line, began.
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

    /// Returns where the data ends: at a delimiter (`matched` is then its length), at what could become one when the
    /// chunk ends inside it (`matched` is then what was seen of it), or at the end of the chunk.
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
