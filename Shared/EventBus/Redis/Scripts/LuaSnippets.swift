/// Lua definitions that several scripts share; they precede the script's own text.
enum LuaSnippets {
    /// `now`: the server's time in milliseconds.
    static let now = """
        local time = redis.call('TIME')
        local now = time[1] * 1000 + math.floor(time[2] / 1000)

        """

    /// `isAfter(a, b)`: whether one entry id is after another; compares them as numbers, not as texts.
    static let isAfter = """
        local function isAfter(a, b)
            local aTime, aCount = string.match(a, '^(%d+)-(%d+)$')
            local bTime, bCount = string.match(b, '^(%d+)-(%d+)$')
            if aTime ~= bTime then return tonumber(aTime) > tonumber(bTime) end
            return tonumber(aCount) > tonumber(bCount)
        end

        """

    /// `fieldsOf(entry, without, …)`: an entry's fields except those whose names match, followed by further texts; and the id of
    /// its message. An entry that is not a message may have any number of fields; the first 1000 are kept, because Lua passes on
    /// no more than some thousand arguments.
    static let fieldsOf = """
        local function fieldsOf(entry, without, ...)
            local fields, message = {}, entry[1]
            for f = 1, math.min(#entry[2], 2000), 2 do
                local name, value = entry[2][f], entry[2][f + 1]
                if name == 'i' then message = value end
                if not string.match(name, without) then
                    fields[#fields + 1] = name
                    fields[#fields + 1] = value
                end
            end
            for _, text in ipairs({...}) do fields[#fields + 1] = text end
            return fields, message
        end

        """
}
