import RedisClient

/// Scripts that maintain a group. Each is atomic on the server, so that any number of consumers may run it at once.
enum MaintenanceScripts {
    /// Claims entries. KEYS: stream, pulse (``LivenessScripts``), the number of claims from each consumer. ARGV: group, consumer,
    /// minimum idle time in milliseconds, first entry to look at, maximum number of entries, whether a suspect may be among them,
    /// crash budget, maximum age of the pulse in milliseconds or -1, the name under which released entries are pending, the holder of
    /// the entries or an empty text, and the minimum time since the last stall in milliseconds (``ClaimRequest``).
    ///
    /// Returns the cursor, the entries in the form of `XREADGROUP`, the entries that are no longer in the stream, and the delivery count of
    /// each entry; a suspect's delivery is counted only when it is begun. An old pulse, or a new one after a gap, shows that the request
    /// has waited while the server was stalled: then consumers with seemingly idle entries could not send heartbeats. Before the claim, the
    /// consumers that lose entries are recorded for the acknowledge script; at the memory limit that write fails, and so does the claim,
    /// unless it takes only released entries.
    static let claim = RedisScript(
        LuaSnippets.now + """
            local idle, count, holder = tonumber(ARGV[3]), tonumber(ARGV[5]), ARGV[10]
            if holder ~= ARGV[9] and ARGV[8] ~= '-1' then
                local pulse = redis.call('HMGET', KEYS[2], 'seen', 'since')
                if not pulse[1] or now - tonumber(pulse[1]) > tonumber(ARGV[8]) or now - tonumber(pulse[2]) < tonumber(ARGV[11]) then
                    return {'0-0', {}, {}, {}}
                end
            end

            local limit = count + 100
            local rows
            if holder ~= '' then
                rows = redis.call('XPENDING', KEYS[1], ARGV[1], 'IDLE', idle, ARGV[4], '+', limit, holder)
            else
                rows = redis.call('XPENDING', KEYS[1], ARGV[1], 'IDLE', idle, ARGV[4], '+', limit)
            end
            local takesSuspect, budget = ARGV[6] == '1', tonumber(ARGV[7])
            local ids, counts, losers, taken, cursor = {}, {}, {}, 0, '0-0'
            local suspect
            for _, row in ipairs(rows) do
                local isSuspect = row[4] >= 2 and row[4] < budget
                if not isSuspect or takesSuspect then
                    if isSuspect then
                        suspect = row[1]
                        takesSuspect = false
                    else
                        ids[#ids + 1] = row[1]
                    end
                    counts[row[1]] = row[4] + 1
                    taken = taken + 1
                    if row[2] ~= ARGV[2] then losers[row[2]] = true end
                end
                cursor = row[1]
                if taken == count then break end
            end
            if #rows < limit and taken < count then cursor = '0-0' end
            if taken == 0 then return {cursor, {}, {}, {}} end
            for consumer in pairs(losers) do
                if consumer ~= ARGV[9] then redis.call('HINCRBY', KEYS[3], consumer, 1) end
            end

            local entries, deliveries, lost = {}, {}, {}
            local function note(wanted, claimed)
                for _, entry in ipairs(claimed) do
                    entries[#entries + 1] = entry
                    deliveries[#deliveries + 1] = counts[entry[1]]
                    counts[entry[1]] = nil
                end
                for _, id in ipairs(wanted) do
                    if counts[id] then lost[#lost + 1] = id end
                end
            end
            if #ids > 0 then note(ids, redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], idle, unpack(ids))) end
            if suspect then
                local begun = counts[suspect] - 1
                note({suspect}, redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], idle, suspect, 'RETRYCOUNT', begun))
            end
            return {cursor, {{KEYS[1], entries}}, lost, deliveries}
            """)

    /// Appends the retries that are due. KEYS: stream, due times, payloads. ARGV: their maximum number. Returns their number, and
    /// the milliseconds until the next one, or -1.
    static let resumeRetries = RedisScript(
        LuaSnippets.now + """
            local due = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, ARGV[1])
            for _, message in ipairs(due) do
                local payload = redis.call('HGET', KEYS[3], message)
                local added = payload and redis.pcall('XADD', KEYS[1], '*', unpack(cmsgpack.unpack(payload)))
                if type(added) == 'table' and added.err then
                    -- One that cannot be appended must not hold up the others.
                    redis.call('ZADD', KEYS[2], 'XX', now + 60000, message)
                else
                    redis.call('ZREM', KEYS[2], message)
                    redis.call('HDEL', KEYS[3], message)
                end
            end
            local first = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
            return {#due, first[2] and math.max(first[2] - now, 0) or -1}
            """)

    /// Trims to the first entry that a group still needs: its oldest pending one, or else the last one delivered to it, which
    /// stays because the server can tell a group's lag only while that entry exists. The last entry of the stream is deleted too once all
    /// groups have settled it, so that an idle stream keeps nothing: an empty stream has no lag, and entries after a deleted one are
    /// counted correctly. KEYS: stream. ARGV: the age in milliseconds to which a stream without groups is trimmed, or -1. Returns the
    /// number of deleted entries.
    ///
    /// Never trims by length: `MAXLEN` deletes entries that no group has read, and pending entries that are deleted are lost.
    static let trim = RedisScript(
        LuaSnippets.now + LuaSnippets.isAfter + """
            if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
            local first
            local isPending = false
            for _, info in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
                local needed = info[8]
                if info[6] > 0 then
                    needed = redis.call('XPENDING', KEYS[1], info[2])[2]
                    isPending = true
                end
                if not first or isAfter(first, needed) then first = needed end
            end
            if not first then
                if tonumber(ARGV[1]) < 0 then return 0 end
                return redis.call('XTRIM', KEYS[1], 'MINID', string.format('%.0f-0', math.max(now - ARGV[1], 0)))
            end
            local deleted = redis.call('XTRIM', KEYS[1], 'MINID', first)
            local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
            if not isPending and last and last[1] == first then deleted = deleted + redis.call('XDEL', KEYS[1], first) end
            return deleted
            """)

    /// Deletes a consumer without pending entries; they would be lost with it. KEYS: stream, the number of claims from each
    /// consumer, heartbeats. ARGV: group, consumer. Returns 1 when it was deleted, else 0.
    static let retire = RedisScript(
        """
        if #redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', 1, ARGV[2]) > 0 then return 0 end
        redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], ARGV[2])
        redis.call('HDEL', KEYS[2], ARGV[2])
        redis.call('HDEL', KEYS[3], ARGV[2])
        return 1
        """)

    /// Deletes the consumers without pending entries that were idle for too long, and old heartbeats. The server creates a living one
    /// again with its next delivery. KEYS: stream, the number of claims from each consumer, heartbeats. ARGV: group, milliseconds. Returns
    /// the number of deleted ones.
    static let retireIdle = RedisScript(
        LuaSnippets.now + """
            local count = 0
            local limit = tonumber(ARGV[2])
            for _, info in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])) do
                if info[4] == 0 and info[6] > limit then
                    redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], info[2])
                    redis.call('HDEL', KEYS[2], info[2])
                    count = count + 1
                end
            end
            -- Consumers that were never delivered an entry are not in the group.
            local beats = redis.call('HGETALL', KEYS[3])
            for i = 1, #beats, 2 do
                if now - tonumber(string.match(beats[i + 1], '^%d+')) > limit
                    and #redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', 1, beats[i]) == 0 then
                    redis.call('HDEL', KEYS[3], beats[i])
                end
            end
            return count
            """)
}
