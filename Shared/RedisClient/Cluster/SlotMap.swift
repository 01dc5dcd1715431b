/// The master of each slot of a cluster.
struct SlotMap: Equatable, Sendable {
    /// All servers of the cluster, replicas included.
    private(set) var servers: Set<RedisAddress> = []
    /// The masters that have slots, in the order of their first slot.
    private(set) var masters: [RedisAddress] = []
    /// For each slot one more than the index of its master; 0 for a slot without a server.
    private var owners = [UInt16](repeating: 0, count: ClusterSlot.count)

    init() {}

    /// Reads the reply of `CLUSTER SLOTS`: for each range its first slot, its last slot, the master and the replicas.
    ///
    /// - Parameter server: The server that sent it: it leaves out a host that it does not know, which is then its own.
    init(_ reply: RedisReply, from server: RedisAddress) throws(RedisError) {
        guard let ranges = reply.array, !ranges.isEmpty else { throw RedisError.unexpected(reply, "the slots of a cluster") }
        for range in ranges {
            guard let parts = range.array, parts.count > 2, let first = parts[0].integer, let last = parts[1].integer,
                first >= 0, first <= last, last < ClusterSlot.count
            else { throw RedisError.unexpected(range, "a range of slots") }
            let addresses = parts.dropFirst(2).compactMap { Self.address($0, from: server) }
            guard let master = addresses.first else { throw RedisError.unexpected(range, "a server of a cluster") }
            servers.formUnion(addresses)
            for slot in first...last { assign(ClusterSlot(number: slot), to: master) }
        }
    }

    func master(of slot: ClusterSlot) -> RedisAddress? {
        let owner = owners[slot.number]
        return owner == 0 ? nil : masters[Int(owner) - 1]
    }

    mutating func assign(_ slot: ClusterSlot, to master: RedisAddress) {
        if let index = masters.firstIndex(of: master) {
            owners[slot.number] = UInt16(index) + 1
        } else {
            masters.append(master)
            servers.insert(master)
            owners[slot.number] = UInt16(masters.count)
        }
    }

    /// Whether every slot has a server.
    var isComplete: Bool { !owners.contains(0) }

    private static func address(_ reply: RedisReply, from server: RedisAddress) -> RedisAddress? {
        guard let parts = reply.array, parts.count > 1, let port = parts[1].integer, port > 0 else { return nil }
        let host = parts[0].string ?? ""
        return RedisAddress(host: host.isEmpty || host == "?" ? server.host : host, port: port)
    }
}
