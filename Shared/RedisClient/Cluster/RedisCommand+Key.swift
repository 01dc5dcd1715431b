/// The key by which a cluster finds the server for a command.
extension RedisCommand {
    /// The slot of the command's first key; nil for a command without keys, which any server can execute.
    ///
    /// The server checks that all keys of a command are in one slot, and refuses it with `CROSSSLOT` otherwise.
    var slot: ClusterSlot? {
        withBytes { bytes -> ClusterSlot? in
            guard let position = keyPosition(in: bytes) else { return nil }
            var arguments = EncodedArguments(bytes)
            var last: UnsafeRawBufferPointer?
            for _ in 0...position {
                guard let argument = arguments.next() else { return nil }
                last = argument
            }
            return last.map { ClusterSlot(ofKey: $0) }
        }
    }

    /// The position of the first key among the arguments; the command's name is number 0.
    private func keyPosition(in bytes: UnsafeRawBufferPointer) -> Int? {
        switch name.uppercased() {
        case "EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO", "FCALL", "FCALL_RO":
            var arguments = EncodedArguments(bytes)
            for _ in 0..<2 { _ = arguments.next() }
            return arguments.next().map { $0.elementsEqual("0".utf8) } == false ? 3 : nil
        case "XREAD", "XREADGROUP":
            var arguments = EncodedArguments(bytes)
            var position = 0
            // The names of the group and of the consumer, the second and third argument, may be any word, even the searched one.
            while let argument = arguments.next() {
                position += 1
                if position > (name.uppercased() == "XREAD" ? 1 : 4), argument.elementsEqual("STREAMS".utf8) { return position }
            }
            return nil
        case "XGROUP", "XINFO", "OBJECT", "MEMORY": return 2
        case let name: return Self.keyless.contains(name) ? nil : 1
        }
    }

    private static let keyless: Set<String> = [
        "ACL", "ASKING", "AUTH", "CLIENT", "CLUSTER", "COMMAND", "CONFIG", "DBSIZE", "DEBUG", "ECHO", "FLUSHALL", "FLUSHDB", "INFO", "KEYS",
        "LASTSAVE", "LATENCY", "PING", "PUBLISH", "QUIT", "READONLY", "READWRITE", "ROLE", "SAVE", "SCAN", "SCRIPT", "SELECT", "SHUTDOWN",
        "SLOWLOG", "TIME", "WAIT",
    ]
}

/// The arguments of an encoded command, in order, the name first.
private struct EncodedArguments {
    private var rest: Slice<UnsafeRawBufferPointer>

    /// - Parameter bytes: A command of ``RedisCommandEncoder``.
    init(_ bytes: UnsafeRawBufferPointer) {
        rest = bytes[...]
        _ = number()
    }

    mutating func next() -> UnsafeRawBufferPointer? {
        guard !rest.isEmpty else { return nil }
        let length = number()
        let argument = UnsafeRawBufferPointer(rebasing: rest.prefix(length))
        rest = rest.dropFirst(length + 2)
        return argument
    }

    /// Reads a line of a type, a number and the line's end.
    private mutating func number() -> Int {
        var value = 0
        rest = rest.dropFirst()
        while let digit = rest.popFirst(), digit != UInt8(ascii: "\r") { value = value * 10 + Int(digit - UInt8(ascii: "0")) }
        rest = rest.dropFirst()
        return value
    }
}
