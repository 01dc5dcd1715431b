import RedisClient

/// Scripts for the queries of operators and of the republisher.
enum InspectionScripts {
    /// Finds the published messages that a group does not have any more: not undelivered, not pending, and not scheduled for a retry. KEYS:
    /// stream, due times of retries. ARGV: group, and the entry and the id of each message. Returns the positions of these messages, from
    /// 0. A message whose retry was appended is in another entry and counts as absent.
    static let absent = RedisScript(
        LuaSnippets.isAfter + """
            local delivered = '0-0'
            if redis.call('EXISTS', KEYS[1]) == 1 then
                for _, info in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
                    if info[2] == ARGV[1] then delivered = info[8] end
                end
            end
            local absent = {}
            for i = 2, #ARGV, 2 do
                local there = redis.call('ZSCORE', KEYS[2], ARGV[i + 1])
                if not there and #redis.call('XRANGE', KEYS[1], ARGV[i], ARGV[i]) > 0 then
                    there = isAfter(ARGV[i], delivered)
                        or #redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[i], ARGV[i], 1) > 0
                end
                if not there then absent[#absent + 1] = (i - 2) / 2 end
            end
            return absent
            """)

    /// Returns the status of a group. KEYS: stream, due times of retries, heartbeats. ARGV: group, the limit for counting undelivered
    /// entries when the server cannot tell their number, and the milliseconds after which a heartbeat is no sign of life.
    ///
    /// Before Redis 7.2, a server knows a consumer only after its first entry, so consumers that only wait are found by their heartbeats.
    ///
    /// The reply is the time, the length, undelivered entries, the first of them or an empty text, pending entries, the first of
    /// them or an empty text, retries, the entries ever appended, and the consumers as name, pending and idle milliseconds. The
    /// number of undelivered entries is the server's own `lag`, which is exact while groups begin at the first entry and only the trim
    /// script deletes entries.
    static let status = RedisScript(
        LuaSnippets.now + """
            local function first(key, from)
                local entry = redis.call('XRANGE', key, from, '+', 'COUNT', 1)[1]
                return entry and entry[1] or ''
            end
            local length, lag, unread, pending, oldest, appended, consumers = 0, 0, '', 0, '', 0, {}
            if redis.call('EXISTS', KEYS[1]) == 1 then
                length = redis.call('XLEN', KEYS[1])
                appended = redis.call('XINFO', 'STREAM', KEYS[1])[12]
                for _, info in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
                    if info[2] == ARGV[1] then
                        pending, lag = info[6], info[12]
                        unread = first(KEYS[1], '(' .. info[8])
                        if unread == '' then lag = 0 end
                        if not lag then lag = #redis.call('XRANGE', KEYS[1], '(' .. info[8], '+', 'COUNT', ARGV[2]) end
                        if pending > 0 then oldest = redis.call('XPENDING', KEYS[1], ARGV[1])[2] end
                        local beats, silences = redis.call('HGETALL', KEYS[3]), {}
                        for index = 1, #beats, 2 do
                            silences[beats[index]] = math.max(0, now - tonumber(string.match(beats[index + 1], '^%d+')))
                        end
                        local function add(name, pending, idle)
                            for _, value in ipairs({name, pending, idle}) do consumers[#consumers + 1] = value end
                        end
                        for _, consumer in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])) do
                            add(consumer[2], consumer[4], math.min(consumer[6], silences[consumer[2]] or consumer[6]))
                            silences[consumer[2]] = nil
                        end
                        for name, silence in pairs(silences) do
                            if silence <= tonumber(ARGV[3]) then add(name, 0, silence) end
                        end
                    end
                end
            end
            return {now, length, lag, unread, pending, oldest, redis.call('ZCARD', KEYS[2]), appended, consumers}
            """)
}
