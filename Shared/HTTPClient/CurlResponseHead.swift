/// Collects the header block of a response, as libcurl hands it over: one line at a time.
struct CurlResponseHead {
    private let byteCountMax: Int
    private var byteCount = 0
    private(set) var fields: [(name: String, value: String)] = []

    init(byteCountMax: Int) {
        self.byteCountMax = byteCountMax
    }

    /// Forgets a response.
    mutating func removeAll() {
        byteCount = 0
        fields = []
    }

    /// Takes one line with its line end; returns false when the block grows over its limit.
    mutating func append(_ line: UnsafeRawBufferPointer) -> Bool {
        byteCount += line.count
        guard byteCount <= byteCountMax else { return false }
        let text = String(decoding: line, as: UTF8.self)
        if text.hasPrefix("HTTP/") {
            // A block before the final one (1xx) is not the response's.
            fields.removeAll(keepingCapacity: true)
            return true
        }
        guard let colon = text.firstIndex(of: ":"), colon != text.startIndex else { return true }
        fields.append((name: String(text[..<colon]), value: Self.trimmed(text[text.index(after: colon)...])))
        return true
    }

    /// How many bytes the body is said to have.
    var contentLength: Int? {
        fields.last { $0.name.lowercased() == "content-length" }.flatMap { Int($0.value) }.flatMap { $0 >= 0 ? $0 : nil }
    }

    private static func trimmed(_ text: Substring) -> String {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0.isNewline }
        let start = text.drop(while: isSpace)
        let end = start.lastIndex { !isSpace($0) }.map { start.index(after: $0) } ?? start.startIndex
        return String(start[..<end])
    }
}
