/// Collects the header block of a response, which libcurl passes line by line.
struct CurlResponseHead {
    private let maxByteCount: Int
    private var byteCount = 0
    private(set) var fields: [(name: String, value: String)] = []

    init(maxByteCount: Int) {
        self.maxByteCount = maxByteCount
    }

    /// Removes all fields and resets the byte count.
    mutating func removeAll() {
        byteCount = 0
        fields = []
    }

    /// Adds one line with its line end; returns false when the block exceeds its limit.
    mutating func append(_ line: UnsafeRawBufferPointer) -> Bool {
        byteCount += line.count
        guard byteCount <= maxByteCount else { return false }
        if line.starts(with: "HTTP/".utf8) {
            // Drops the fields of an interim response (1xx).
            fields.removeAll(keepingCapacity: true)
            return true
        }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex else { return true }
        let name = String(decoding: line[..<colon], as: UTF8.self)
        fields.append((name: name, value: String(decoding: Self.trimmed(line[(colon + 1)...]), as: UTF8.self)))
        return true
    }

    /// The value of `Content-Length`.
    var contentLength: Int? {
        fields.last { $0.name.lowercased() == "content-length" }.flatMap { Int($0.value) }.flatMap { $0 >= 0 ? $0 : nil }
    }

    private static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
        let start = bytes.drop(while: isSpace)
        let end = start.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? start.startIndex
        return start[..<end]
    }
}
