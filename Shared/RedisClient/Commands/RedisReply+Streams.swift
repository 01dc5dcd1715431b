extension RedisStreamEntry {
    /// Reads `[id, [name, value, …]]`.
    static func decode(_ reply: RedisReply) throws(RedisError) -> RedisStreamEntry {
        guard var parts = reply.elements, parts.count == 2, let first = parts.next(), let id = RedisStreamID(first),
            let body = parts.next()
        else { throw RedisError.unexpected(reply, "an entry of a stream") }
        guard let fields = RedisStreamFields(body) else { throw RedisError.unexpected(body, "the fields of an entry") }
        return RedisStreamEntry(id: id, fields: fields)
    }

    /// Reads a list of entries, such as the reply of `XRANGE`.
    public static func decodeEntries(_ reply: RedisReply) throws(RedisError) -> [RedisStreamEntry] {
        guard let list = reply.elements else { throw RedisError.unexpected(reply, "a list of entries") }
        var entries: [RedisStreamEntry] = []
        entries.reserveCapacity(list.count)
        for item in list { entries.append(try decode(item)) }
        return entries
    }
}

extension RedisStreamBatch {
    /// Reads the reply of `XREAD` and `XREADGROUP`: null when there was nothing to read.
    public static func decodeList(_ reply: RedisReply) throws(RedisError) -> [RedisStreamBatch] {
        if reply.isNull { return [] }
        guard let list = reply.elements else { throw RedisError.unexpected(reply, "a list of streams") }
        var batches: [RedisStreamBatch] = []
        for item in list {
            guard var parts = item.elements, parts.count == 2, let stream = parts.next()?.string, let body = parts.next()
            else { throw RedisError.unexpected(item, "a stream and its entries") }
            batches.append(RedisStreamBatch(stream: stream, entries: try RedisStreamEntry.decodeEntries(body)))
        }
        return batches
    }
}

extension RedisReply {
    func requireInteger() throws(RedisError) -> Int {
        guard let integer else { throw RedisError.unexpected(self, "an integer") }
        return integer
    }
}

extension RedisError {
    /// Creates the error for a reply of another kind than expected.
    static func unexpected(_ reply: RedisReply, _ expected: String) -> RedisError {
        RedisError(.unexpectedReply, "expected \(expected), got \(reply)", mayHaveExecuted: true)
    }
}
