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
    /// Reads `[id, [name, value, …]]`.
    static func decode(_ reply: RedisReply) throws(RedisError) -> RedisStreamEntry {
        guard var parts = reply.elements, parts.count == 2, let first = parts.next(), let id = RedisStreamID(first),
            let body = parts.next()
        else { throw RedisError.unexpected(reply, "an entry of a stream") }
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
