/// Encodes the commands of a pipeline one after the other into the same memory, which costs less than an array for each.
public struct RedisCommandList: ~Copyable {
    private var encoder: RedisCommandEncoder
    private var ends: [(name: String, end: Int)] = []

    /// - Parameters:
    ///   - count: The number of commands to make room for.
    ///   - capacity: The approximate number of bytes of all arguments of all commands.
    public init(count: Int, capacity: Int) {
        encoder = RedisCommandEncoder(capacity: capacity)
        ends.reserveCapacity(count)
    }

    /// Adds `XADD`, which appends an entry, with fields that `encode` appends: exactly `fieldCount` names, each followed by its value. The
    /// server chooses the entry's id.
    public mutating func xadd(_ stream: String, fieldCount: Int, encode: (inout RedisCommandEncoder) -> Void) {
        append("XADD", argumentCount: 2 + 2 * fieldCount) { encoder in
            encoder.append(stream)
            encoder.append("*")
            encode(&encoder)
        }
    }

    private mutating func append(_ name: String, argumentCount: Int, encode: (inout RedisCommandEncoder) -> Void) {
        encoder.begin(argumentCount: argumentCount + 1)
        encoder.append(name)
        encode(&encoder)
        ends.append((name, encoder.count))
    }

    /// Returns the commands, in the order in which they were added.
    public consuming func finish() -> [RedisCommand] {
        let (memory, ends) = (encoder.finish(), ends)
        var start = 0
        return ends.map { command in
            defer { start = command.end }
            return RedisCommand(command.name, start..<command.end, of: memory)
        }
    }
}
