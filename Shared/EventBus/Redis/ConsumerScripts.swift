import RedisClient

/// What a consumer does in one step on the server, because between two steps somebody else may act.
enum ConsumerScripts {
    /// Claims entries and tells how often each was delivered, which `XAUTOCLAIM` counts but does not tell.
    ///
    /// ARGV: group, consumer, minimum idle milliseconds, cursor, count. Gives cursor, entries in the form of `XREADGROUP`,
    /// numbers of deleted entries, and delivery counts in the order of the entries.
    static let claim = RedisScript(
        """
        local claimed = redis.call('XAUTOCLAIM', KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4], 'COUNT', ARGV[5])
        local counts = {}
        for i, entry in ipairs(claimed[2]) do
            local pending = redis.call('XPENDING', KEYS[1], ARGV[1], entry[1], entry[1], 1)
            counts[i] = pending[1] and pending[1][4] or 1
        end
        return {claimed[1], {{KEYS[1], claimed[2]}}, claimed[3], counts}
        """)

    /// Resets the idle time of entries which are still the consumer's own; an unchecked `XCLAIM` would steal back those
    /// that another consumer took over. ARGV: group, consumer, ids. Gives the ids that are not its own.
    static let keep = RedisScript(
        """
        local gone = {}
        for i = 3, #ARGV do
            local own = redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[i], ARGV[i], 1, ARGV[2])
            if #own == 0 then
                gone[#gone + 1] = ARGV[i]
            else
                redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, ARGV[i], 'JUSTID')
            end
        end
        return gone
        """)

    /// Deletes a consumer that has nothing pending; with pending entries they would be lost. ARGV: group, consumer.
    static let retire = RedisScript(
        """
        if #redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', 1, ARGV[2]) > 0 then return 0 end
        redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], ARGV[2])
        return 1
        """)

    /// Finds published messages that a group has no longer before it. KEYS: stream, retries. ARGV: group, and the entry and
    /// the id of each message. Gives the positions of the absent ones, from 0. A message that is just tried again travels in
    /// another entry and counts as absent.
    static let absent = RedisScript(
        """
        local function number(id)
            local milliseconds, sequence = string.match(id, '^(%d+)-(%d+)$')
            return tonumber(milliseconds), tonumber(sequence)
        end
        local delivered
        if redis.call('EXISTS', KEYS[1]) == 1 then
            for _, info in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
                if info[2] == ARGV[1] then delivered = info[8] end
            end
        end
        local lastMilliseconds, lastSequence = number(delivered or '0-0')
        local absent = {}
        for i = 2, #ARGV, 2 do
            local there = redis.call('ZSCORE', KEYS[2], ARGV[i + 1])
            if not there and #redis.call('XRANGE', KEYS[1], ARGV[i], ARGV[i]) > 0 then
                local milliseconds, sequence = number(ARGV[i])
                there = milliseconds > lastMilliseconds
                    or (milliseconds == lastMilliseconds and sequence > lastSequence)
                    or #redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[i], ARGV[i], 1) > 0
            end
            if not there then absent[#absent + 1] = (i - 2) / 2 end
        end
        return absent
        """)

    /// Reads what ``claim`` gives.
    static func readClaim(_ reply: RedisReply) throws(RedisError) -> ClaimedEntries {
        guard let parts = reply.array, parts.count == 4, let cursor = EntryID(parts[0]) else {
            throw RedisError(.unexpectedReply, "the claim script gave \(reply)")
        }
        let batch = try RedisStreamBatch.decodeList(parts[1]).first
        let counts = (parts[3].array ?? []).map { $0.integer ?? 1 }
        let entries = (batch?.entries ?? []).enumerated().map { index, entry in
            DeliveredEntry(
                id: entry.id, fields: entry.fields, deliveryCount: index < counts.count ? counts[index] : 1)
        }
        let lost = (parts[2].array ?? []).compactMap { EntryID($0) } + (batch?.deleted ?? [])
        return ClaimedEntries(entries: entries, cursor: cursor, lost: lost)
    }
}
