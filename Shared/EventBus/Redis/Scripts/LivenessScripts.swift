import RedisClient

/// Scripts about which consumers of a group live.
enum LivenessScripts {
    /// Records a heartbeat, and finds the dead consumers that hold entries. KEYS: stream, pulse, heartbeats. ARGV: group, consumer, the
    /// name under which released entries are pending, the beginning of the channels of lifelines, and ``HeartbeatLimits`` in
    /// milliseconds. Returns whether the consumer has a lifeline, the milliseconds since the last stall, the names, and the milliseconds
    /// until the first grace of a lost lifeline ends, or -1.
    ///
    /// The pulse is the time of the group's last heartbeat, and the time since which there was no gap between heartbeats. A heartbeat is
    /// the server's time, and a plus sign if the consumer had a lifeline then: a missing lifeline proves a death only if the consumer had
    /// one. The first consumer that notices the loss appends the time. A consumer without a heartbeat gets one, and its silence counts from
    /// it. At the memory limit Redis refuses writes, so no consumer is found dead.
    static let beat = RedisScript(
        LuaSnippets.now + """
            local function hasLifeline(name)
                return redis.call('PUBSUB', 'SHARDNUMSUB', ARGV[4] .. name)[2] > 0
            end
            local pulse = redis.call('HMGET', KEYS[2], 'seen', 'since')
            local since = tonumber(pulse[2] or '0')
            if not pulse[1] or now - tonumber(pulse[1]) > tonumber(ARGV[7]) then since = now end
            local own = hasLifeline(ARGV[2])
            local isStored = type(redis.pcall('HSET', KEYS[2], 'seen', now, 'since', since)) == 'number'
                and type(redis.pcall('HSET', KEYS[3], ARGV[2], now .. (own and '+' or ''))) == 'number'

            local graceEndsIn = -1
            local function isDead(name)
                local last = redis.call('HGET', KEYS[3], name)
                if not last then
                    redis.pcall('HSET', KEYS[3], name, now)
                    return false
                end
                local at, mark, lostAt = string.match(last, '^(%d+)(%+?)(%d*)$')
                if now - tonumber(at) > tonumber(ARGV[5]) then return true end
                if mark == '' or hasLifeline(name) then return false end
                if lostAt == '' then
                    redis.pcall('HSET', KEYS[3], name, last .. now)
                    lostAt = now
                end
                local rest = tonumber(lostAt) + tonumber(ARGV[6]) - now
                if rest > 0 and (graceEndsIn < 0 or rest < graceEndsIn) then graceEndsIn = rest end
                return rest <= 0
            end
            local canJudge = isStored and now - since >= tonumber(ARGV[8])
            local names = {}
            for _, holder in ipairs(redis.call('XPENDING', KEYS[1], ARGV[1])[4] or {}) do
                local name = holder[1]
                local isClaimable = name == ARGV[3]
                -- Losses of lifelines are noted in any case.
                if not isClaimable and isStored and name ~= ARGV[2] then isClaimable = isDead(name) and canJudge end
                if isClaimable then names[#names + 1] = name end
            end
            return {own and 1 or 0, isStored and now - since or 0, names, graceEndsIn}
            """)
}
