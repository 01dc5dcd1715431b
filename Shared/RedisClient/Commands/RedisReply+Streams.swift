extension RedisReply {
    /// All names of one ASCII character. Entries use such field names, and sharing them is cheaper than a new string per field.
    private static let shortNames = (0..<128).map { String(UnicodeScalar(UInt8($0))) }

    /// The name of a field.
    fileprivate var fieldName: String? {
        guard kind == .bulkString else { return string }
        let short = withBytes { $0.count == 1 && $0[0] < 128 ? Self.shortNames[Int($0[0])] : nil }
        return short ?? string
    }
}

extension RedisStreamEntry {
    /// Reads `[id, [name, value, …]]`; the fields of a deleted entry are null, which gives `nil` entries.
    static func decode(_ reply: RedisReply) throws(RedisError) -> (id: RedisStreamID, entry: RedisStreamEntry?) {
        guard var parts = reply.elements, parts.count == 2, let first = parts.next(), let id = RedisStreamID(first),
            let body = parts.next()
        else { throw RedisError.unexpected(reply, "an entry of a stream") }
        if body.isNull { return (id, nil) }
        guard var texts = body.elements, texts.count % 2 == 0 else {
            throw RedisError.unexpected(body, "the fields of an entry")
        }
        var fields: [(name: String, value: [UInt8])] = []
        fields.reserveCapacity(texts.count / 2)
        while let name = texts.next() {
            guard let value = texts.next(), let name = name.fieldName, let bytes = value.bytes else {
                throw RedisError.unexpected(body, "the fields of an entry")
            }
            fields.append((name, bytes))
        }
        return (id, RedisStreamEntry(id: id, fields: fields))
    }

    /// Reads the reply of `XRANGE`.
    public static func decodeEntries(_ reply: RedisReply) throws(RedisError) -> [RedisStreamEntry] {
        try decodeList(reply).entries
    }

    /// Reads a list of entries and separates the deleted ones. `XCLAIM` before 7.0 has nulls in the place of entries.
    static func decodeList(
        _ reply: RedisReply
    ) throws(RedisError) -> (entries: [RedisStreamEntry], deleted: [RedisStreamID]) {
        guard let list = reply.elements else { throw RedisError.unexpected(reply, "a list of entries") }
        var entries: [RedisStreamEntry] = []
        var deleted: [RedisStreamID] = []
        entries.reserveCapacity(list.count)
        for item in list where !item.isNull {
            let (id, entry) = try decode(item)
            if let entry { entries.append(entry) } else { deleted.append(id) }
        }
        return (entries, deleted)
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
            let (entries, deleted) = try RedisStreamEntry.decodeList(body)
            batches.append(RedisStreamBatch(stream: stream, entries: entries, deleted: deleted))
        }
        return batches
    }
}

extension RedisAutoclaim {
    init(_ reply: RedisReply) throws(RedisError) {
        guard let parts = reply.array, parts.count >= 2, let cursor = RedisStreamID(parts[0]) else {
            throw RedisError.unexpected(reply, "a cursor and entries")
        }
        let (entries, gone) = try RedisStreamEntry.decodeList(parts[1])
        self.cursor = cursor
        self.entries = entries
        deleted = gone + (parts.count > 2 ? try RedisStreamID.decodeList(parts[2]) : [])
    }
}

extension RedisStreamID {
    static func decodeList(_ reply: RedisReply) throws(RedisError) -> [RedisStreamID] {
        guard let list = reply.elements else { throw RedisError.unexpected(reply, "a list of stream ids") }
        var ids: [RedisStreamID] = []
        ids.reserveCapacity(list.count)
        for item in list {
            guard let id = RedisStreamID(item) else { throw RedisError.unexpected(item, "a stream id") }
            ids.append(id)
        }
        return ids
    }
}

extension RedisPendingEntry {
    init(_ reply: RedisReply) throws(RedisError) {
        guard let parts = reply.array, parts.count == 4, let id = RedisStreamID(parts[0]), let consumer = parts[1].string,
            let idle = parts[2].integer, let deliveries = parts[3].integer
        else { throw RedisError.unexpected(reply, "a pending entry") }
        self.init(id: id, consumer: consumer, idle: .milliseconds(idle), deliveries: deliveries)
    }
}

extension RedisPendingSummary {
    init(_ reply: RedisReply) throws(RedisError) {
        guard let parts = reply.array, parts.count == 4, let count = parts[0].integer else {
            throw RedisError.unexpected(reply, "a summary of pending entries")
        }
        self.count = count
        if let first = RedisStreamID(parts[1]), let last = RedisStreamID(parts[2]), first <= last {
            range = first...last
        } else {
            range = nil
        }
        var consumers: [String: Int] = [:]
        for consumer in parts[3].elements.map(Array.init) ?? [] {
            // Only here is the count a string and not an integer.
            guard let pair = consumer.array, pair.count == 2, let name = pair[0].string, let number = pair[1].string.flatMap(Int.init)
            else { throw RedisError.unexpected(consumer, "a consumer and its count") }
            consumers[name] = number
        }
        self.consumers = consumers
    }
}

extension RedisGroupInfo {
    init(_ reply: RedisReply) throws(RedisError) {
        let values = try reply.dictionary()
        guard let name = values["name"]?.string, let consumers = values["consumers"]?.integer,
            let pending = values["pending"]?.integer, let last = values["last-delivered-id"].flatMap({ RedisStreamID($0) })
        else { throw RedisError.unexpected(reply, "a consumer group") }
        self.init(name: name, consumers: consumers, pending: pending, lastDelivered: last, lag: values["lag"]?.integer)
    }
}

extension RedisReply {
    /// Reads `[name, value, name, value, …]`, the form of a map in RESP2.
    public func dictionary() throws(RedisError) -> [String: RedisReply] {
        guard var list = elements, list.count % 2 == 0 else { throw RedisError.unexpected(self, "names and values") }
        var values: [String: RedisReply] = [:]
        while let name = list.next(), let value = list.next() {
            guard let key = name.string else { throw RedisError.unexpected(self, "names and values") }
            values[key] = value
        }
        return values
    }

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
