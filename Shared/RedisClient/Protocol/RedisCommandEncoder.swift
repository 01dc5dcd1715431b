/// Writes the arguments of commands in RESP: each is an array of bulk strings.
public struct RedisCommandEncoder: ~Copyable {
    /// The most bytes around an argument: its type, the digits of its length, and two line ends.
    private static var maxFraming: Int { 1 + 20 + 2 + 2 }

    private var output: GrowingBuffer<UInt8>

    /// - Parameter capacity: The approximate number of bytes of all commands.
    init(capacity: Int) { output = GrowingBuffer(capacity: capacity) }

    /// The number of bytes so far.
    var count: Int { output.count }

    /// Ends the encoding; the commands stay in the memory in which they were written.
    consuming func finish() -> EncodedCommands { EncodedCommands(output.freeze()) }

    /// Begins a command with exactly that number of arguments, its name included.
    mutating func begin(argumentCount: Int) {
        output.append(atMost: Self.maxFraming) { writeHeader(UInt8(ascii: "*"), UInt64(argumentCount), at: $0) }
    }

    /// Appends one argument, the UTF-8 of `text`.
    public mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    /// Appends one argument.
    public mutating func append(_ value: [UInt8]) {
        value.withUnsafeBytes { append($0) }
    }

    /// Appends one argument.
    public mutating func append(_ value: UnsafeRawBufferPointer) {
        output.append(atMost: value.count + Self.maxFraming) { room in
            var end = writeHeader(UInt8(ascii: "$"), UInt64(value.count), at: room)
            if let start = value.baseAddress { UnsafeMutableRawPointer(room + end).copyMemory(from: start, byteCount: value.count) }
            end += value.count
            return end + writeLineEnd(at: room + end)
        }
    }

    /// Appends one argument, the decimal digits of `number`.
    public mutating func append(_ number: Int) {
        withDecimalDigits(Int64(number)) { append($0) }
    }

    /// Appends one argument such as `1700000000000-0`.
    public mutating func append(_ id: RedisStreamID) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 41) { buffer in
            var start = writeDigits(id.sequence, endingAt: 41, of: buffer)
            start -= 1
            buffer[start] = UInt8(ascii: "-")
            start = writeDigits(id.milliseconds, endingAt: start, of: buffer)
            append(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: buffer[start...])))
        }
    }
}

/// Writes the type and the number of an array or a bulk string, and returns the number of bytes.
@inline(__always)
private func writeHeader(_ type: UInt8, _ number: UInt64, at room: UnsafeMutablePointer<UInt8>) -> Int {
    room[0] = type
    var end = 1
    if number < 10 {
        room[1] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number)
        end = 2
    } else if number < 100 {
        room[1] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / 10)
        room[2] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10)
        end = 3
    } else {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            for index in writeDigits(number, endingAt: 20, of: digits)..<20 {
                room[end] = digits[index]
                end += 1
            }
        }
    }
    return end + writeLineEnd(at: room + end)
}

/// Writes a line end, and returns the number of bytes.
@inline(__always)
private func writeLineEnd(at room: UnsafeMutablePointer<UInt8>) -> Int {
    room[0] = UInt8(ascii: "\r")
    room[1] = UInt8(ascii: "\n")
    return 2
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
