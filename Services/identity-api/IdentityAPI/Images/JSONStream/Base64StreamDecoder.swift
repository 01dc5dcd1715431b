internal import JSON

/// Decodes base64 (RFC 4648) that arrives in pieces: in the standard alphabet or in the one for URLs, with or without padding, and with
/// white space anywhere, since encoders differ in these, and the bytes are the same. The unused bits of the last character are zero.
///
/// It holds at most three characters.
struct Base64StreamDecoder: Sendable {
    private static let invalid: UInt8 = 0xFF
    /// The value of each byte.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: invalid, count: 256)
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        for (value, character) in alphabet.utf8.enumerated() { values[Int(character)] = UInt8(value) }
        (values[Int(UInt8(ascii: "-"))], values[Int(UInt8(ascii: "_"))]) = (62, 63)
        return values
    }()

    /// The characters of an incomplete group of four, and their bits.
    private var count = 0
    private var bits: UInt32 = 0
    /// The padding characters read of that group.
    private var padding = 0
    private var isOver = false
    private var fault = "a character that is not of base64"

    /// Decodes the next characters and appends the bytes they complete.
    ///
    /// - Throws: `badBase64`; the decoder must not be used after that.
    mutating func decode(_ text: RawSpan, into output: inout [UInt8]) throws(JSONError) {
        let start = output.count
        let room = (text.byteCount + 3) / 4 * 3
        output.append(contentsOf: repeatElement(0, count: room))
        var end = start
        let isGood = text.withUnsafeBytes { text in
            output.withUnsafeMutableBufferPointer { output in decode(text, into: output, at: &end) }
        }
        output.removeLast(start + room - end)
        guard isGood else { throw JSONError(.badBase64, fault) }
    }

    /// Checks that the text was complete when it ended, and appends the bytes of a last group without padding.
    mutating func finish(into output: inout [UInt8]) throws(JSONError) {
        guard count > 0 else { return }
        guard count > 1, padding == 0 else { throw JSONError(.badBase64, "the last group is not whole") }
        padding = 4 - count
        var group: [UInt8] = [0, 0, 0]
        var end = 0
        guard group.withUnsafeMutableBufferPointer({ complete(into: $0, at: &end) }) else { throw JSONError(.badBase64, fault) }
        output += group[..<end]
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
        if JSONString.isBlank(byte) { return true }
        guard !isOver else { return failing("something behind the padding") }
        if byte == UInt8(ascii: "=") {
            padding += 1
            guard count >= 2 else { return failing("padding where there is nothing to pad") }
            return count + padding < 4 || complete(into: output, at: &end)
        }
        let value = values[Int(byte)]
        guard value != Self.invalid else { return false }
        guard padding == 0 else { return failing("something behind the padding") }
        bits = bits << 6 | UInt32(value)
        count += 1
        return count < 4 || complete(into: output, at: &end)
    }

    private mutating func failing(_ reason: String) -> Bool {
        fault = reason
        return false
    }

    /// Writes the bytes of a group; false when unused bits are set.
    private mutating func complete(into output: UnsafeMutableBufferPointer<UInt8>, at end: inout Int) -> Bool {
        let whole = bits << UInt32(6 * padding)
        guard whole & ((1 << UInt32(8 * padding)) - 1) == 0 else { return failing("a last character that has bits of more bytes") }
        for index in 0..<(3 - padding) {
            output[end] = UInt8(truncatingIfNeeded: whole >> UInt32(16 - 8 * index))
            end += 1
        }
        isOver = padding > 0
        (count, bits, padding) = (0, 0, 0)
        return true
    }
}
