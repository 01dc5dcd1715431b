/// Commands on streams, for ``RedisCommandSender/pipeline(_:)``; the methods of ``RedisCommandSender`` send them one by one and
/// read their replies.
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

    /// `XACK`: acknowledges entries. The reply is the number of them that were pending.
    public static func xack(_ stream: String, group: String, ids: [RedisStreamID]) -> RedisCommand {
        let capacity = stream.utf8.count + group.utf8.count + 32 * ids.count
        return RedisCommand("XACK", argumentCount: 2 + ids.count, capacity: capacity) { encoder in
            encoder.append(stream)
            encoder.append(group)
            for id in ids { encoder.append(id) }
        }
    }

    /// `XREADGROUP` for entries that have not been delivered to any consumer of the group.
    ///
    /// - Parameters:
    ///   - count: The maximum number of entries of each stream.
    ///   - block: The time to wait for an entry when there is none; only for dedicated connections. `nil` does not wait.
    ///   - acknowledge: When true, the server acknowledges the entries on delivery, and a crash of the consumer loses them.
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

    /// `XREADGROUP` for the consumer's own pending entries.
    public static func xreadgroupHistory(
        group: String, consumer: String, stream: String, after id: RedisStreamID = .zero, count: Int
    ) -> RedisCommand {
        RedisCommand("XREADGROUP", "GROUP", group, consumer, "COUNT", count, "STREAMS", stream, id)
    }

    /// `XREAD`: reads without a group.
    ///
    /// - Parameter block: The time to wait for an entry when there is none; only for dedicated connections. `nil` does not wait.
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

    /// `XAUTOCLAIM`: claims entries that have been pending without a delivery or claim for `minIdle`.
    public static func xautoclaim(
        _ stream: String, group: String, consumer: String, minIdle: Duration, from cursor: RedisStreamID = .zero, count: Int
    ) -> RedisCommand {
        RedisCommand("XAUTOCLAIM", stream, group, consumer, minIdle.wholeMilliseconds, cursor, "COUNT", count)
    }

    /// `XCLAIM … JUSTID`: claims entries for a consumer without counting a delivery, and resets their idle time. The reply lists
    /// the ids that were pending.
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
    /// Whole milliseconds, rounded up, and at least 1: a `BLOCK` of 0 waits without limit.
    var redisMilliseconds: Int { max(1, wholeMilliseconds) }

    /// Whole milliseconds, rounded up; a minimum idle time of 0 matches every entry.
    var wholeMilliseconds: Int {
        let (seconds, attoseconds) = components
        return Int(seconds) * 1000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
