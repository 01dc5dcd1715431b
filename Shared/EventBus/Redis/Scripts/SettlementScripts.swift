import RedisClient

/// Scripts that settle a consumer's pending entries. Redis acknowledges and claims for any caller, so each script first checks that the
/// entries are the consumer's own: another consumer may have claimed the entries of a stalled consumer.
///
/// In all of them `KEYS[1]` is the stream, `ARGV[1]` the group and `ARGV[2]` the consumer. They return the entries that are not the
/// consumer's own, except as `keep` says, and do not change them.
enum SettlementScripts {
    /// Acknowledges entries. KEYS: stream, the number of claims from each consumer. ARGV: ascending entries.
    ///
    /// A consumer from which no entry was ever claimed owns all its entries, which one HEXISTS checks. Otherwise each entry is
    /// checked, which costs more than the acknowledgement itself.
    static let acknowledge = RedisScript(
        """
        local ids, gone = {}, {}
        if #ARGV < 3 then return gone end
        if redis.call('HEXISTS', KEYS[2], ARGV[2]) == 0 then
            for i = 3, #ARGV, 1000 do
                redis.call('XACK', KEYS[1], ARGV[1], unpack(ARGV, i, math.min(i + 999, #ARGV)))
            end
            return gone
        end
        local own = {}
        for _, row in ipairs(redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[3], ARGV[#ARGV], 1000000, ARGV[2])) do
            own[row[1]] = true
        end
        for i = 3, #ARGV do
            if own[ARGV[i]] then ids[#ids + 1] = ARGV[i] else gone[#gone + 1] = ARGV[i] end
        end
        for first = 1, #ids, 1000 do
            redis.call('XACK', KEYS[1], ARGV[1], unpack(ids, first, math.min(first + 999, #ids)))
        end
        return gone
        """)

    /// Schedules entries for a retry. KEYS: stream, due times by message id, payloads by message id. ARGV: for each entry its id,
    /// its failures and its delay in milliseconds.
    ///
    /// Two failed copies of a message become one retry, with the larger number of failures: a republished message begins at zero.
    /// The payload is kept because the stream may be trimmed in the meantime.
    static let retry = RedisScript(
        LuaSnippets.now + LuaSnippets.fieldsOf + """
            local gone = {}
            for i = 3, #ARGV, 3 do
                local id = ARGV[i]
                if #redis.call('XPENDING', KEYS[1], ARGV[1], id, id, 1, ARGV[2]) == 0 then
                    gone[#gone + 1] = id
                else
                    local entry = redis.call('XRANGE', KEYS[1], id, id)[1]
                    if entry then
                        local fields, message = fieldsOf(entry, '^[ag]$', 'a', ARGV[i + 1], 'g', ARGV[1])
                        local other = redis.call('HGET', KEYS[3], message)
                        if other then
                            local known = cmsgpack.unpack(other)
                            local failures = math.max(tonumber(ARGV[i + 1]), tonumber(known[#known - 2]))
                            fields[#fields - 2] = tostring(failures)
                        end
                        redis.call('ZADD', KEYS[2], now + ARGV[i + 2], message)
                        redis.call('HSET', KEYS[3], message, cmsgpack.pack(fields))
                        redis.call('XACK', KEYS[1], ARGV[1], id)
                    end
                end
            end
            return gone
            """)

    /// Releases entries: sets an hour of idle time, so that the next claim takes them, and one delivery less, which that claim
    /// counts again. ARGV: the name under which they are pending in the meantime, and the entries.
    static let release = RedisScript(
        """
        local gone = {}
        for i = 4, #ARGV do
            local own = redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[i], ARGV[i], 1, ARGV[2])[1]
            if own then
                local count = math.max(own[4] - 1, 0)
                redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[3], 0, ARGV[i], 'IDLE', 3600000, 'RETRYCOUNT', count, 'JUSTID')
            else
                gone[#gone + 1] = ARGV[i]
            end
        end
        return gone
        """)

    /// Counts a delivery of suspects, which their claim did not count. ARGV: the entries.
    static let begin = RedisScript(
        """
        local gone = {}
        for i = 3, #ARGV do
            local own = redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[i], ARGV[i], 1, ARGV[2])[1]
            if own then
                redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, ARGV[i], 'RETRYCOUNT', own[4] + 1, 'JUSTID')
            else
                gone[#gone + 1] = ARGV[i]
            end
        end
        return gone
        """)

    /// Renews entries: resets their idle time, which does not count as a delivery. Returns only the entries that are pending for another
    /// consumer: an entry that the server has lost has no other holder. ARGV: the entries.
    static let keep = RedisScript(
        """
        local gone = {}
        for i = 3, #ARGV do
            local row = redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[i], ARGV[i], 1)[1]
            if row and row[2] == ARGV[2] then
                redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, ARGV[i], 'JUSTID')
            elseif row then
                gone[#gone + 1] = ARGV[i]
            end
        end
        return gone
        """)
}
