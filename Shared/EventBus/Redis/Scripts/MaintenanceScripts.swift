import RedisClient

/// Scripts that maintain a group. Each is atomic on the server, so that any number of consumers may run it at once.
enum MaintenanceScripts {
    /// Claims entries that were not renewed. KEYS: stream, pulse, how often each consumer lost entries.
    /// ARGV: group, consumer, least idle time in milliseconds, where to begin, how many, whether a suspect may be among them,
    /// crash budget, longest time without a pulse in milliseconds, how long nothing is given away after a longer one, and the
    /// name under which entries are pending that were handed back.
    ///
    /// Gives the cursor, the entries in the form of `XREADGROUP`, those that are no longer in the stream, and how often each
    /// entry was delivered; a suspect's delivery is counted only when it is begun. The pulse says when the group was last
    /// tended: after a longer pause the server stood still or was away, renewals could not reach it, and nothing is given
    /// away until the living could give some; but what was handed back is. From whom entries are taken is noted first, for the
    /// acknowledge script; under a memory limit that cannot be written, and nothing is taken.
    static let claim = RedisScript(
        LuaSnippets.now + """
            local idle, count = tonumber(ARGV[3]), tonumber(ARGV[5])
            local pulse = redis.call('HMGET', KEYS[2], 'seen', 'since')
            local since = tonumber(pulse[2] or '0')
            local wasAway = not pulse[1] or now - tonumber(pulse[1]) > tonumber(ARGV[8])
            if wasAway then since = now end
            local written = redis.pcall('HSET', KEYS[2], 'seen', now, 'since', since)
            -- Under a memory limit no pulse can be kept, and the group goes on without.
            local isBlind = type(written) == 'table' and written.err
            if count == 0 then return {'0-0', {}, {}, {}} end

            local limit = count + 100
            local rows
            if not isBlind and now - since < tonumber(ARGV[9]) then
                rows = redis.call('XPENDING', KEYS[1], ARGV[1], 'IDLE', idle, ARGV[4], '+', limit, ARGV[10])
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
                if consumer ~= ARGV[10] then redis.call('HINCRBY', KEYS[3], consumer, 1) end
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

    /// Appends what is due. KEYS: stream, due times, payloads. ARGV: how many at most. Gives how many, and the milliseconds
    /// until the next, or -1.
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

    /// Trims to the first entry that a group still needs: its oldest pending one, or else the last it was given; that one
    /// stays, because the server can tell a group's lag only while it is there. KEYS: stream. ARGV: the age in milliseconds to
    /// which a stream without groups is trimmed, or -1. Gives how many entries were deleted.
    ///
    /// Never by length: `MAXLEN` deletes entries that no group has read, and what is deleted while it is pending is lost.
    static let trim = RedisScript(
        LuaSnippets.now + LuaSnippets.isAfter + """
            if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
            local first
            for _, info in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
                local needed = info[8]
                if info[6] > 0 then needed = redis.call('XPENDING', KEYS[1], info[2])[2] end
                if not first or isAfter(first, needed) then first = needed end
            end
            if not first and tonumber(ARGV[1]) >= 0 then
                first = string.format('%.0f-0', math.max(now - ARGV[1], 0))
            end
            return first and redis.call('XTRIM', KEYS[1], 'MINID', first) or 0
            """)

    /// Deletes the dead letters that are older than an age, by the server's clock, which gave them their numbers. KEYS: dead letters.
    /// ARGV: milliseconds. Gives how many were deleted.
    static let trimDeadLetters = RedisScript(
        LuaSnippets.now + """
            return redis.call('XTRIM', KEYS[1], 'MINID', string.format('%.0f-0', math.max(now - ARGV[1], 0)))
            """)

    /// Deletes a consumer that has nothing pending; with pending entries they would be lost. KEYS: stream, how often each
    /// consumer lost entries. ARGV: group, consumer.
    static let retire = RedisScript(
        """
        if #redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', 1, ARGV[2]) > 0 then return 0 end
        redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], ARGV[2])
        redis.call('HDEL', KEYS[2], ARGV[2])
        return 1
        """)

    /// Deletes the consumers that have nothing pending and were not heard of for long. One that lives all the same is made
    /// anew by its next delivery. KEYS: stream, how often each consumer lost entries. ARGV: group, milliseconds. Gives how
    /// many were deleted.
    static let retireIdle = RedisScript(
        """
        local count = 0
        for _, info in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])) do
            if info[4] == 0 and info[6] > tonumber(ARGV[2]) then
                redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], info[2])
                redis.call('HDEL', KEYS[2], info[2])
                count = count + 1
            end
        end
        return count
        """)
}
