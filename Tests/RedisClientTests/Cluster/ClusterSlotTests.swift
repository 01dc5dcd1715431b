import Testing

@testable import RedisClient

@Suite struct ClusterSlotTests {
    @Test(arguments: [
        ("123456789", 12_739), ("", 0), ("foo", 12_182), ("{user1000}.following", 3443), ("{user1000}.followers", 3443),
    ])
    func `The slot of a key is the one of the specification`(key: String, slot: Int) {
        #expect(ClusterSlot(ofKey: key).number == slot)
    }

    @Test func `Only the part between the first brace and the next closing one decides`() {
        #expect(ClusterSlot(ofKey: "foo{bar}{zap}") == ClusterSlot(ofKey: "bar"))
        #expect(ClusterSlot(ofKey: "foo{{bar}}zap") == ClusterSlot(ofKey: "{bar"))
        #expect(ClusterSlot(ofKey: "foo{bar") != ClusterSlot(ofKey: "bar"))
        #expect(ClusterSlot(ofKey: "foo{}{bar}") != ClusterSlot(ofKey: "bar"))
    }

    @Test func `The key of a command is where the command has it`() {
        let slot = ClusterSlot(ofKey: "key")
        let commands = [
            RedisCommand("GET", "key"), RedisCommand("XADD", "key", "*", "a", "b"), RedisCommand("XGROUP", "CREATE", "key", "g", "0"),
            RedisCommand("XINFO", "STREAM", "key"), RedisCommand("EVAL", "return 1", 1, "key", "other"),
            RedisCommand("EVALSHA", "0123", 2, "key", "{key}2"), RedisCommand("evalsha", "0123", 1, "key"),
            .xreadgroup(group: "STREAMS", consumer: "STREAMS", streams: ["key"], count: 1, block: .seconds(1)),
            .xread(streams: [("key", .zero)], count: 1), RedisCommand("XREAD", "STREAMS", "key", "0"),
        ]
        for command in commands { #expect(command.slot == slot, "\(command)") }
    }

    @Test func `A command without a key has no slot`() {
        let commands = [
            RedisCommand("PING"), RedisCommand("SCRIPT", "LOAD", "return 1"), RedisCommand("EVAL", "return 1", 0),
            RedisCommand("CLIENT", "UNBLOCK", 1), RedisCommand("INFO", "memory"), RedisCommand("GET"),
        ]
        for command in commands { #expect(command.slot == nil, "\(command)") }
    }

    @Test func `The map names the master of every slot, and all servers`() throws {
        let map = try SlotMap.sample()
        #expect(map.isComplete)
        #expect(map.masters == (1...3).map { .sample($0) })
        #expect(map.servers == Set((1...6).map { .sample($0) }))
        for (slot, master) in [(0, 1), (5460, 1), (5461, 2), (10_922, 2), (10_923, 3), (16_383, 3)] {
            #expect(map.master(of: ClusterSlot(number: slot)) == .sample(master))
        }
    }

    @Test func `A server without a host is the one that was asked`() throws {
        let reply = try RedisReply.decoding(.array([.array([.integer(0), .integer(1), SlotMap.server("")])]))
        let map = try SlotMap(reply, from: RedisAddress(host: "asked", port: 1))
        #expect(map.master(of: ClusterSlot(number: 1)) == RedisAddress(host: "asked", port: 7000))
        #expect(map.master(of: ClusterSlot(number: 2)) == nil && !map.isComplete)
    }

    @Test(arguments: ["MOVED 1", "MOVED x 10.0.0.1:7000", "MOVED 16384 10.0.0.1:7000", "MOVED 1 10.0.0.1", "ERR 1 10.0.0.1:7000"])
    func `Another error is no redirection`(text: String) throws {
        #expect(try redirection(text) == nil)
    }

    @Test func `A redirection names the slot and the server, or the host of the one that answered`() throws {
        let moved = try #require(try redirection("MOVED 3999 10.0.0.2:7000"))
        #expect(moved.isMoved && moved.slot.number == 3999 && moved.target == .sample(2))
        let ask = try #require(try redirection("ASK 7 :7000"))
        #expect(!ask.isMoved && ask.slot.number == 7 && ask.target == .sample(1))
        let address = try #require(try redirection("MOVED 1 ::1:7000"))
        #expect(address.target == RedisAddress(host: "::1", port: 7000))
    }

    /// Reads an error of the server 1.
    private func redirection(_ text: String) throws -> Redirection? {
        try RedisReply.error(text).error.flatMap { Redirection($0, from: .sample(1)) }
    }
}
