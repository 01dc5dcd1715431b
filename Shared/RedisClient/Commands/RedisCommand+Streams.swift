/// Commands on streams, for ``RedisCommandSender/pipeline(_:)``; the methods of ``RedisCommandSender`` send them one by one and
/// read their replies.
extension RedisCommand {
    /// `XREADGROUP` for entries that have not been delivered to any consumer of the group.
    ///
    /// - Parameters:
    ///   - count: The maximum number of entries of each stream.
    ///   - block: The time to wait for an entry when the stream has no new one; only for dedicated connections. `nil` does not wait.
    public static func xreadgroup(
        group: String, consumer: String, streams: [String], count: Int, block: Duration? = nil
    ) -> RedisCommand {
        var arguments: [any RedisArgument] = ["GROUP", group, consumer, "COUNT", count]
        if let block { arguments += ["BLOCK", block.redisMilliseconds] as [any RedisArgument] }
        arguments.append("STREAMS")
        arguments += streams as [any RedisArgument]
        arguments += streams.map { _ in ">" } as [any RedisArgument]
        return RedisCommand("XREADGROUP", arguments: arguments)
    }

    /// `XACK`: removes entries from the pending entries of a group, whichever consumer they are delivered to.
    public static func xack(_ stream: String, group: String, ids: [RedisStreamID]) -> RedisCommand {
        let capacity = stream.utf8.count + group.utf8.count + 24 * ids.count
        return RedisCommand("XACK", argumentCount: 2 + ids.count, capacity: capacity) { encoder in
            encoder.append(stream)
            encoder.append(group)
            for id in ids { encoder.append(id) }
        }
    }

    /// `XREAD`: reads the entries after an id of each stream, without a group.
    ///
    /// - Parameter block: The time to wait for an entry when the stream has no new one; only for dedicated connections. `nil` does not
    ///   wait.
    public static func xread(
        streams: [(stream: String, after: RedisStreamID)], count: Int, block: Duration? = nil
    ) -> RedisCommand {
        var arguments: [any RedisArgument] = ["COUNT", count]
        if let block { arguments += ["BLOCK", block.redisMilliseconds] as [any RedisArgument] }
        arguments.append("STREAMS")
        arguments += streams.map(\.stream) as [any RedisArgument]
        arguments += streams.map(\.after) as [any RedisArgument]
        return RedisCommand("XREAD", arguments: arguments)
    }
}

extension Duration {
    /// Whole milliseconds, rounded up, and at least 1: a `BLOCK` of 0 waits without limit.
    var redisMilliseconds: Int { max(1, wholeMilliseconds) }

    /// Whole milliseconds, rounded up; a minimum idle time of 0 matches every entry.
    var wholeMilliseconds: Int {
        let (seconds, attoseconds) = components
        return Int(seconds) * 1000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
