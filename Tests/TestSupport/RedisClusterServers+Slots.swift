import Foundation

/// The slots, and their ways between masters.
extension RedisClusterServers {
    /// Returns the slot of a key.
    public func slot(of key: String) async throws -> Int {
        let text = try await masters[0].server.cli("CLUSTER", "KEYSLOT", key)
        return Int(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? -1
    }

    /// Returns the position of the master that has a key at the start.
    public func position(of key: String) async throws -> Int {
        let slot = try await slot(of: key)
        return masters.indices.first { slot < Self.slotCount * ($0 + 1) / masters.count } ?? 0
    }

    /// Begins to move a slot between two masters: from now on, keys that the first does not have are asked of the second.
    public func beginMigration(of slot: Int, from source: Node, to target: Node) async throws {
        try await set(slot, "IMPORTING", source, at: target)
        try await set(slot, "MIGRATING", target, at: source)
    }

    /// Runs what moves slots, once no other test of the cluster does.
    ///
    /// A server that moves a key stands still until the other one has it, so that two servers that move keys to each other would wait for
    /// their time limits. Valkey does not finish a migration in one step while keys of other slots are moved, and the reverse.
    public func movingSlots(_ body: () async throws -> Void) async throws {
        await movingKeys.take()
        defer { movingKeys.release() }
        try await body()
    }

    private func set(_ slot: Int, _ state: String, _ other: Node, at node: Node) async throws {
        // Valkey refuses it while the server moves another slot in one step. A slot that is left between two masters would have every
        // later migration in one step refused.
        try await eventually("\(node.port) sets slot \(slot) to \(state)") {
            try await node.server.cli("CLUSTER", "SETSLOT", "\(slot)", state, other.id).hasPrefix("OK")
        }
    }

    /// Moves the keys of a slot that ``beginMigration(of:from:to:)`` was called for, and ends with the slot at its new master. Both are
    /// called inside one ``movingSlots(_:)``.
    public func endMigration(of slot: Int, from source: Node, to target: Node) async throws {
        while true {
            let keys = try await source.server.cli("CLUSTER", "GETKEYSINSLOT", "\(slot)", "100").split(separator: "\n").map(String.init)
            if keys.isEmpty { break }
            for key in keys { try await source.server.cli("MIGRATE", "127.0.0.1", "\(target.port)", key, "0", "60000") }
        }
        for node in [target, source] { try await set(slot, "NODE", target, at: node) }
        // A replica refuses it, and learns it from its master.
        for other in nodes where other.id != source.id && other.id != target.id {
            _ = try? await other.server.cli("CLUSTER", "SETSLOT", "\(slot)", "NODE", target.id)
        }
    }

    /// The ways in which the servers can move a slot: key by key, and, in Valkey 9, in one step.
    public static var movesInOneStep: [Bool] { get async throws { try await RedisServer.isValkey ? [false, true] : [false] } }

    /// Moves a slot with its keys between two masters, and returns when it has moved.
    public func migrate(slot: Int, from source: Node, to target: Node, inOneStep: Bool = false) async throws {
        try await movingSlots {
            if inOneStep { return try await migrateInOneStep(slot: slot, from: source, to: target) }
            try await beginMigration(of: slot, from: source, to: target)
            try await endMigration(of: slot, from: source, to: target)
        }
    }

    private func migrateInOneStep(slot: Int, from source: Node, to target: Node) async throws {
        try await eventually("slot \(slot) moves to \(target.port)") {
            // A server refuses it while it moves another slot key by key.
            let reply = try await source.server.cli("CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", "\(slot)", "\(slot)", "NODE", target.id)
            guard reply.hasPrefix("OK") else { return false }
            return try await eventually("the migration ends") { try await endOfMigration(of: slot, at: source) } == "success"
        }
    }

    /// Returns the state of a slot's last migration from or to a server, once it has ended.
    private func endOfMigration(of slot: Int, at node: Node) async throws -> String? {
        // The newest one is the first.
        let lines = try await node.server.cli("CLUSTER", "GETSLOTMIGRATIONS").split(separator: "\n")
        guard let start = lines.firstIndex(of: "\(slot)-\(slot)"), let name = lines[start...].firstIndex(of: "state") else { return nil }
        let state = String(lines[name + 1])
        return ["success", "failed", "cancelled"].contains(state) ? state : nil
    }
}
