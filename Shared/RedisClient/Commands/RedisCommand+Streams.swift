/// Commands on streams, ready for ``RedisCommandSender/pipeline(_:)``; the methods of ``RedisCommandSender`` send them one by
/// one and read their replies.
extension RedisCommand {
    /// `XADD`: appends an entry.
    ///
    /// - Parameters:
    ///   - id: `nil` lets the server choose.
    ///   - createStream: When false and there is no such stream, nothing is added and the reply is null.
    public static func xadd(
        _ stream: String, id: RedisStreamID? = nil, createStream: Bool = true, fields: [(name: String, value: [UInt8])]
    ) -> RedisCommand {
        var capacity = stream.utf8.count + 32
        for field in fields { capacity += field.name.utf8.count + field.value.count + 16 }
        let count = 2 + (createStream ? 0 : 1) + 2 * fields.count
        return RedisCommand("XADD", argumentCount: count, capacity: capacity) { encoder in
            encoder.append(stream)
            if !createStream { encoder.append("NOMKSTREAM") }
            if let id { encoder.append(id) } else { encoder.append("*") }
            for field in fields {
                encoder.append(field.name)
                encoder.append(field.value)
            }
        }
    }

    /// `XACK`: tells that entries are done. The reply is how many of them were pending.
    public static func xack(_ stream: String, group: String, ids: [RedisStreamID]) -> RedisCommand {
        let capacity = stream.utf8.count + group.utf8.count + 32 * ids.count
        return RedisCommand("XACK", argumentCount: 2 + ids.count, capacity: capacity) { encoder in
            encoder.append(stream)
            encoder.append(group)
            for id in ids { encoder.append(id) }
        }
    }

    /// `XREADGROUP` for entries that no consumer of the group was given.
    ///
    /// - Parameters:
    ///   - count: At most so many entries of each stream.
    ///   - block: How long to wait for an entry when there is none; only for dedicated connections. `nil` does not wait.
    ///   - acknowledge: When true, entries count as done at once, and a crash loses them.
    public static func xreadgroup(
        group: String, consumer: String, streams: [String], count: Int, block: Duration? = nil, acknowledge: Bool = false
    ) -> RedisCommand {
        var arguments: [any RedisArgument] = ["GROUP", group, consumer, "COUNT", count]
        if let block { arguments += ["BLOCK", block.redisMilliseconds] as [any RedisArgument] }
        if acknowledge { arguments.append("NOACK") }
        arguments.append("STREAMS")
        arguments += streams as [any RedisArgument]
        arguments += streams.map { _ in ">" } as [any RedisArgument]
        return RedisCommand("XREADGROUP", arguments: arguments)
    }

    /// `XREADGROUP` for entries that this consumer was given before and has not acknowledged.
    public static func xreadgroupHistory(
        group: String, consumer: String, stream: String, after id: RedisStreamID = .zero, count: Int
    ) -> RedisCommand {
        RedisCommand("XREADGROUP", "GROUP", group, consumer, "COUNT", count, "STREAMS", stream, id)
    }

    /// `XREAD`: reads without a group.
    ///
    /// - Parameter block: How long to wait for an entry when there is none; only for dedicated connections. `nil` does not wait.
    public static func xread(
        streams: [(stream: String, from: RedisReadStart)], count: Int, block: Duration? = nil
    ) -> RedisCommand {
        var arguments: [any RedisArgument] = ["COUNT", count]
        if let block { arguments += ["BLOCK", block.redisMilliseconds] as [any RedisArgument] }
        arguments.append("STREAMS")
        arguments += streams.map(\.stream) as [any RedisArgument]
        arguments += streams.map(\.from.argument) as [any RedisArgument]
        return RedisCommand("XREAD", arguments: arguments)
    }

    /// `XAUTOCLAIM`: takes over entries whose consumer has not been heard of for `minIdle`.
    public static func xautoclaim(
        _ stream: String, group: String, consumer: String, minIdle: Duration, from cursor: RedisStreamID = .zero, count: Int
    ) -> RedisCommand {
        RedisCommand("XAUTOCLAIM", stream, group, consumer, minIdle.wholeMilliseconds, cursor, "COUNT", count)
    }

    /// `XCLAIM … JUSTID`: gives entries to a consumer without counting a delivery, which also resets their idle time. The reply
    /// is the ids that were pending.
    public static func xclaimIDs(
        _ stream: String, group: String, consumer: String, minIdle: Duration, ids: [RedisStreamID]
    ) -> RedisCommand {
        let head: [any RedisArgument] = [stream, group, consumer, minIdle.wholeMilliseconds]
        return RedisCommand("XCLAIM", arguments: head + ids as [any RedisArgument] + ["JUSTID"])
    }

    /// `XTRIM MINID`: deletes entries before `id`, exactly.
    public static func xtrim(_ stream: String, before id: RedisStreamID) -> RedisCommand {
        RedisCommand("XTRIM", stream, "MINID", id)
    }
}

extension Duration {
    /// Whole milliseconds, rounded up, and at least 1: as a time to block, 0 means for ever.
    var redisMilliseconds: Int { max(1, wholeMilliseconds) }

    /// Whole milliseconds, rounded up: as a least idle time, 0 is every entry.
    var wholeMilliseconds: Int {
        let (seconds, attoseconds) = components
        return Int(seconds) * 1000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
