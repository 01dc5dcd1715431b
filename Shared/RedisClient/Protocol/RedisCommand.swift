import NIOCore

/// One command, encoded.
public struct RedisCommand: Sendable {
    /// The command's name, for logs and errors.
    public let name: String
    /// The memory with the command in RESP; the commands of a ``RedisCommandList`` share it.
    fileprivate let memory: EncodedCommands
    fileprivate let range: Range<Int>

    /// Creates any command.
    ///
    /// - Parameters:
    ///   - name: One word, such as `SET`.
    ///   - arguments: Strings, bytes, integers or stream ids; they are binary-safe.
    public init(_ name: String, _ arguments: any RedisArgument...) {
        self.init(name, arguments: arguments)
    }

    /// Creates any command from a list of arguments.
    public init(_ name: String, arguments: [any RedisArgument]) {
        self.init(name, argumentCount: arguments.count, capacity: 32 * arguments.count) { encoder in
            for argument in arguments { argument.encode(into: &encoder) }
        }
    }

    /// Creates a command without an existential box for each argument; `encode` must append exactly `argumentCount` arguments.
    init(_ name: String, argumentCount: Int, capacity: Int, encode: (inout RedisCommandEncoder) -> Void) {
        var encoder = RedisCommandEncoder(capacity: capacity + name.utf8.count + 16 * (argumentCount + 2))
        encoder.begin(argumentCount: argumentCount + 1)
        encoder.append(name)
        encode(&encoder)
        let memory = encoder.finish()
        self.init(name, 0..<memory.count, of: memory)
    }

    init(_ name: String, _ range: Range<Int>, of memory: EncodedCommands) {
        self.name = name
        self.memory = memory
        self.range = range
    }

    /// The length of the command in RESP.
    var byteCount: Int { range.count }

    /// Calls `body` with the command in RESP, which is valid during the call only.
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result { memory.withBytes(range, body) }
}

extension ByteBuffer {
    /// Appends commands; adjacent commands in memory are appended as one piece.
    mutating func write(_ commands: some Collection<RedisCommand>) {
        var index = commands.startIndex
        while index < commands.endIndex {
            let first = commands[index]
            var end = first.range.upperBound
            commands.formIndex(after: &index)
            while index < commands.endIndex, commands[index].memory === first.memory, commands[index].range.lowerBound == end {
                end = commands[index].range.upperBound
                commands.formIndex(after: &index)
            }
            first.memory.withBytes(first.range.lowerBound..<end) { _ = writeBytes($0) }
        }
    }
}

extension RedisCommand: CustomStringConvertible {
    /// The name only: arguments may be secrets.
    public var description: String { name }
}

/// A value that can be an argument of a command.
public protocol RedisArgument: Sendable {
    /// Appends exactly one argument.
    func encode(into encoder: inout RedisCommandEncoder)
}

extension String: RedisArgument {
    /// Appends the text in UTF-8.
    public func encode(into encoder: inout RedisCommandEncoder) { encoder.append(self) }
}

extension Array: RedisArgument where Element == UInt8 {
    /// Appends the bytes as they are.
    public func encode(into encoder: inout RedisCommandEncoder) { encoder.append(self) }
}

extension Int: RedisArgument {
    /// Appends the number in decimal digits.
    public func encode(into encoder: inout RedisCommandEncoder) { encoder.append(self) }
}

extension RedisStreamID: RedisArgument {
    /// Appends the id in the form `milliseconds-sequence`.
    public func encode(into encoder: inout RedisCommandEncoder) { encoder.append(self) }
}
