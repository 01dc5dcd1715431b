/// Commands on streams. See the documentation of Redis for the details of each command.
extension RedisCommandSender {
    /// Appends an entry and returns its id; `nil` when `createStream` is false and there is no such stream.
    @discardableResult
    public func xadd(
        _ stream: String, id: RedisStreamID? = nil, createStream: Bool = true, fields: [(name: String, value: [UInt8])]
    ) async throws(RedisError) -> RedisStreamID? {
        let reply = try await send(.xadd(stream, id: id, createStream: createStream, fields: fields))
        if reply.isNull { return nil }
        guard let id = RedisStreamID(reply) else { throw RedisError.unexpected(reply, "a stream id") }
        return id
    }

    /// Delivers new entries to a consumer of a group; streams without new entries are left out. Does not wait.
    ///
    /// - Parameter count: The maximum number of entries of each stream.
    /// - Throws: ``RedisServerErrorCode/noGroup`` when one of the streams or groups does not exist.
    public func xreadgroup(
        group: String, consumer: String, streams: [String], count: Int
    ) async throws(RedisError) -> [RedisStreamBatch] {
        try RedisStreamBatch.decodeList(
            try await send(.xreadgroup(group: group, consumer: consumer, streams: streams, count: count)))
    }

    /// Reads a consumer's own pending entries after the entry `id`.
    public func xreadgroupHistory(
        group: String, consumer: String, stream: String, after id: RedisStreamID = .zero, count: Int
    ) async throws(RedisError) -> RedisStreamBatch {
        let command = RedisCommand.xreadgroupHistory(group: group, consumer: consumer, stream: stream, after: id, count: count)
        return try RedisStreamBatch.decodeList(try await send(command)).first
            ?? RedisStreamBatch(stream: stream, entries: [], deleted: [])
    }

    /// Reads streams without a group; streams without new entries are left out. Does not wait.
    public func xread(
        streams: [(stream: String, from: RedisReadStart)], count: Int
    ) async throws(RedisError) -> [RedisStreamBatch] {
        try RedisStreamBatch.decodeList(try await send(.xread(streams: streams, count: count)))
    }

    /// Acknowledges entries, and returns how many of them were pending. The server does not check which consumer holds them.
    @discardableResult
    public func xack(_ stream: String, group: String, ids: [RedisStreamID]) async throws(RedisError) -> Int {
        if ids.isEmpty { return 0 }
        return try await send(.xack(stream, group: group, ids: ids)).requireInteger()
    }

    /// Claims entries that have been idle for `minIdle` and counts a delivery of each.
    public func xautoclaim(
        _ stream: String, group: String, consumer: String, minIdle: Duration, from cursor: RedisStreamID = .zero, count: Int
    ) async throws(RedisError) -> RedisAutoclaim {
        try RedisAutoclaim(
            try await send(
                .xautoclaim(stream, group: group, consumer: consumer, minIdle: minIdle, from: cursor, count: count)))
    }

    /// Claims entries for a consumer without counting a delivery, and returns those that were pending.
    public func xclaimIDs(
        _ stream: String, group: String, consumer: String, minIdle: Duration, ids: [RedisStreamID]
    ) async throws(RedisError) -> [RedisStreamID] {
        if ids.isEmpty { return [] }
        let command = RedisCommand.xclaimIDs(stream, group: group, consumer: consumer, minIdle: minIdle, ids: ids)
        return try RedisStreamID.decodeList(try await send(command))
    }

    /// Counts the pending entries of a group.
    public func xpending(_ stream: String, group: String) async throws(RedisError) -> RedisPendingSummary {
        try RedisPendingSummary(try await send(RedisCommand("XPENDING", stream, group)))
    }

    /// Lists pending entries of a group in the order of their ids.
    ///
    /// - Parameter consumer: Limits the list to one consumer; `nil` lists all.
    public func xpending(
        _ stream: String, group: String, from first: RedisStreamID = .zero, count: Int, consumer: String? = nil
    ) async throws(RedisError) -> [RedisPendingEntry] {
        var arguments: [any RedisArgument] = [stream, group, first, "+", count]
        if let consumer { arguments.append(consumer) }
        let reply = try await send(RedisCommand("XPENDING", arguments: arguments))
        guard let list = reply.elements else { throw RedisError.unexpected(reply, "a list of pending entries") }
        var entries: [RedisPendingEntry] = []
        for item in list { entries.append(try RedisPendingEntry(item)) }
        return entries
    }

    /// Returns the number of entries of the stream; 0 when there is no such stream.
    public func xlen(_ stream: String) async throws(RedisError) -> Int {
        try await send(RedisCommand("XLEN", stream)).requireInteger()
    }

    /// Reads entries in order, starting with `first`.
    public func xrange(
        _ stream: String, from first: RedisStreamID = .zero, count: Int
    ) async throws(RedisError) -> [RedisStreamEntry] {
        try RedisStreamEntry.decodeList(try await send(RedisCommand("XRANGE", stream, first, "+", "COUNT", count))).entries
    }

    /// Deletes the entries before `id`, pending ones included, and returns how many there were.
    @discardableResult
    public func xtrim(_ stream: String, before id: RedisStreamID) async throws(RedisError) -> Int {
        try await send(.xtrim(stream, before: id)).requireInteger()
    }
}

/// Commands on consumer groups.
extension RedisCommandSender {
    /// Creates a consumer group, and the stream if there is none; false when there is such a group already.
    @discardableResult
    public func xgroupCreate(
        _ stream: String, group: String, from start: RedisGroupStart = .beginning
    ) async throws(RedisError) -> Bool {
        do throws(RedisError) {
            _ = try await send(RedisCommand("XGROUP", "CREATE", stream, group, start.argument, "MKSTREAM"))
            return true
        } catch {
            guard error.code == .server(.busyGroup) else { throw error }
            return false
        }
    }

    /// Deletes a consumer group with its consumers and pending entries; false when there was none.
    @discardableResult
    public func xgroupDestroy(_ stream: String, group: String) async throws(RedisError) -> Bool {
        try await send(RedisCommand("XGROUP", "DESTROY", stream, group)).requireInteger() > 0
    }

    /// Deletes a consumer, and returns how many pending entries were lost with it: they are not delivered again.
    @discardableResult
    public func xgroupDeleteConsumer(_ stream: String, group: String, consumer: String) async throws(RedisError) -> Int {
        try await send(RedisCommand("XGROUP", "DELCONSUMER", stream, group, consumer)).requireInteger()
    }

    /// Lists the consumer groups of a stream.
    public func xinfoGroups(_ stream: String) async throws(RedisError) -> [RedisGroupInfo] {
        let reply = try await send(RedisCommand("XINFO", "GROUPS", stream))
        guard let list = reply.elements else { throw RedisError.unexpected(reply, "a list of groups") }
        var groups: [RedisGroupInfo] = []
        for item in list { groups.append(try RedisGroupInfo(item)) }
        return groups
    }
}
