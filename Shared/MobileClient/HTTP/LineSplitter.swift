internal import Foundation

/// Splits text that arrives in pieces into lines, which CR, LF or CRLF end (HTML, Server-sent events, §9.2.5).
struct LineSplitter {
    /// The text has a line that is longer than the limit.
    struct LineTooLong: Error {}

    /// The bytes of one line.
    let maxBytes: Int
    private var line: [UInt8] = []
    private var isAfterCR = false

    init(maxBytes: Int = 1 << 20) { self.maxBytes = maxBytes }

    /// Adds a piece; returns the lines that it ends.
    mutating func append(_ piece: Data) throws(LineTooLong) -> [String] {
        var lines: [String] = []
        for byte in piece {
            defer { isAfterCR = byte == 0x0D }
            switch byte {
            case 0x0A where isAfterCR: continue
            case 0x0A, 0x0D:
                lines.append(String(decoding: line, as: UTF8.self))
                line.removeAll(keepingCapacity: true)
            default:
                guard line.count < maxBytes else { throw LineTooLong() }
                line.append(byte)
            }
        }
        return lines
    }

    /// The line that the end of the text cuts off; nil when the text has ended with a line.
    mutating func rest() -> String? {
        guard !line.isEmpty else { return nil }
        defer { line = [] }
        return String(decoding: line, as: UTF8.self)
    }
}
