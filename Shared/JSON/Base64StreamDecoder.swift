/// Decodes base64 (RFC 4648 §4) that arrives in pieces: the standard alphabet, padded and canonical (the unused bits of the last
/// character are zero).
///
/// Line breaks (CR, LF or both) are allowed between groups of four characters: encoders that break lines do so after 64 or 76
/// characters.
///
/// It holds at most three characters.
public struct Base64StreamDecoder: Sendable {
    private static let invalid: UInt8 = 0xFF
    /// The value of each byte.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: invalid, count: 256)
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        for (value, character) in alphabet.utf8.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()

    /// The characters of an incomplete group of four, and their bits.
    private var count = 0
    private var bits: UInt32 = 0
    /// The padding characters read of that group.
    private var padding = 0
    private var isOver = false

    /// Creates a decoder for one text.
    public init() {}

    /// Decodes the next characters and appends the bytes they complete.
    ///
    /// - Throws: `badBase64`; the decoder must not be used after that.
    public mutating func decode(_ text: RawSpan, into output: inout [UInt8]) throws(JSONError) {
        let start = output.count
        let room = (text.byteCount + 3) / 4 * 3
        output.append(contentsOf: repeatElement(0, count: room))
        var end = start
        let isGood = text.withUnsafeBytes { text in
            output.withUnsafeMutableBufferPointer { output in decode(text, into: output, at: &end) }
        }
        output.removeLast(start + room - end)
        guard isGood else { throw JSONError(.badBase64, "a character that is not base64 where it stands") }
    }

    /// Checks that the text was complete when it ended.
    public func finish() throws(JSONError) {
        guard count == 0 else { throw JSONError(.badBase64, "the last group has \(count + padding) characters, not 4") }
    }

    private mutating func decode(
        _ text: UnsafeRawBufferPointer, into output: UnsafeMutableBufferPointer<UInt8>, at end: inout Int
    ) -> Bool {
        Self.values.withUnsafeBufferPointer { values in
            var index = 0
            while index < text.count {
                if count == 0, !isOver {
                    index = Self.decodeWholeGroups(text, from: index, into: output, at: &end, values)
                    guard index < text.count else { break }
                }
                guard take(text[index], values, into: output, at: &end) else { return false }
                index &+= 1
            }
            return true
        }
    }

    /// Decodes groups of four plain characters, the usual case. Returns the offset of the first other byte or incomplete group.
    private static func decodeWholeGroups(
        _ text: UnsafeRawBufferPointer, from start: Int, into output: UnsafeMutableBufferPointer<UInt8>, at end: inout Int,
        _ values: UnsafeBufferPointer<UInt8>
    ) -> Int {
        var index = start
        var position = end
        while index &+ 4 <= text.count {
            let (a, b) = (values[Int(text[index])], values[Int(text[index &+ 1])])
            let (c, d) = (values[Int(text[index &+ 2])], values[Int(text[index &+ 3])])
            // Values have six bits; the value of an invalid byte has all eight.
            guard (a | b | c | d) & 0xC0 == 0 else { break }
            output[position] = a << 2 | b >> 4
            output[position &+ 1] = b << 4 | c >> 2
            output[position &+ 2] = c << 6 | d
            position &+= 3
            index &+= 4
        }
        end = position
        return index
    }

    /// Takes one character; false when it is not allowed at this position.
    private mutating func take(
        _ byte: UInt8, _ values: UnsafeBufferPointer<UInt8>, into output: UnsafeMutableBufferPointer<UInt8>, at end: inout Int
    ) -> Bool {
        if count == 0, padding == 0, byte == UInt8(ascii: "\r") || byte == UInt8(ascii: "\n") { return true }
        if isOver { return false }
        if byte == UInt8(ascii: "=") {
            padding += 1
            guard count >= 2 else { return false }
            return count + padding < 4 || complete(into: output, at: &end)
        }
        let value = values[Int(byte)]
        guard value != Self.invalid, padding == 0 else { return false }
        bits = bits << 6 | UInt32(value)
        count += 1
        return count < 4 || complete(into: output, at: &end)
    }

    /// Writes the bytes of a group; false when unused bits are set.
    private mutating func complete(into output: UnsafeMutableBufferPointer<UInt8>, at end: inout Int) -> Bool {
        let whole = bits << UInt32(6 * padding)
        guard whole & ((1 << UInt32(8 * padding)) - 1) == 0 else { return false }
        for index in 0..<(3 - padding) {
            output[end] = UInt8(truncatingIfNeeded: whole >> UInt32(16 - 8 * index))
            end += 1
        }
        isOver = padding > 0
        (count, bits, padding) = (0, 0, 0)
        return true
    }
}
