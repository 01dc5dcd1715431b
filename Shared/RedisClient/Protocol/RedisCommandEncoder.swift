/// Writes the arguments of one command in RESP: an array of bulk strings.
public struct RedisCommandEncoder: ~Copyable {
    private(set) var bytes: [UInt8] = []

    /// - Parameters:
    ///   - argumentCount: The exact number of arguments that will be appended, the command's name included.
    ///   - capacity: The approximate number of bytes of all arguments.
    init(argumentCount: Int, capacity: Int) {
        bytes.reserveCapacity(capacity + 16 * argumentCount + 16)
        appendHeader(UInt8(ascii: "*"), UInt64(argumentCount))
    }

    /// Appends one argument, the UTF-8 of `text`.
    public mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { appendArgument(UnsafeRawBufferPointer($0)) }
    }

    /// Appends one argument.
    public mutating func append(_ value: [UInt8]) {
        value.withUnsafeBytes { appendArgument($0) }
    }

    /// Appends one argument, the decimal digits of `number`.
    public mutating func append(_ number: some BinaryInteger) {
        withDecimalDigits(Int64(number)) { appendArgument($0) }
    }

    /// Appends one argument such as `1700000000000-0`.
    public mutating func append(_ id: RedisStreamID) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 41) { buffer in
            var start = writeDigits(id.sequence, endingAt: 41, of: buffer)
            start -= 1
            buffer[start] = UInt8(ascii: "-")
            start = writeDigits(id.milliseconds, endingAt: start, of: buffer)
            appendArgument(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: buffer[start...])))
        }
    }

    private mutating func appendArgument(_ argument: UnsafeRawBufferPointer) {
        appendHeader(UInt8(ascii: "$"), UInt64(argument.count))
        bytes.append(contentsOf: argument)
        appendLineEnd()
    }

    private mutating func appendHeader(_ type: UInt8, _ number: UInt64) {
        if number < 10 {
            let header = (type, UInt8(ascii: "0") + UInt8(number), UInt8(ascii: "\r"), UInt8(ascii: "\n"))
            return withUnsafeBytes(of: header) { bytes.append(contentsOf: $0) }
        }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 24) { buffer in
            buffer[22] = UInt8(ascii: "\r")
            buffer[23] = UInt8(ascii: "\n")
            let start = writeDigits(number, endingAt: 22, of: buffer) - 1
            buffer[start] = type
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: buffer[start...]))
        }
    }

    private mutating func appendLineEnd() {
        bytes.append(UInt8(ascii: "\r"))
        bytes.append(UInt8(ascii: "\n"))
    }
}

/// Writes the decimal digits of `number` so that they end before `end`, and returns the index of the first.
private func writeDigits(_ number: UInt64, endingAt end: Int, of buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
    var rest = number
    var start = end
    repeat {
        start -= 1
        buffer[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
    } while rest > 0
    return start
}

private func withDecimalDigits(_ number: Int64, _ body: (UnsafeRawBufferPointer) -> Void) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { buffer in
        var start = writeDigits(number.magnitude, endingAt: 20, of: buffer)
        if number < 0 {
            start -= 1
            buffer[start] = UInt8(ascii: "-")
        }
        body(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: buffer[start...])))
    }
}
