import EventBus
import FaultLedger
import Foundation
import TestSupport

/// Faults of a Redis Cluster.
extension FaultRow {
    private static let clustered = RigOptions(isClustered: true)

    static let slotsMoved = FaultRow("C1", "the slots of the streams move from master to master", options: clustered) { rig, scale in
        try await rig.moveSlots(scale, inOneStep: false)
    }

    static let slotsMovedInOneStep = FaultRow("C1b", "the same in one step each (Valkey)", options: clustered) { rig, scale in
        try await rig.moveSlots(scale, inOneStep: true)
    }

    static let mastersReplaced = FaultRow("C2", "masters replaced by agreement, to and fro", options: clustered) { rig, scale in
        let cluster = try rig.requireCluster()
        try await rig.whileFlowing(scale) { stream in
            try await cluster.failOver(to: try await rig.roles(of: stream).replica)
        }
    }

    static let masterKilled = FaultRow("C3", "a master killed, which comes back as a replica", options: clustered) { rig, scale in
        try await rig.stopMasters(scale, by: { await $0.kill() }, thenResume: { try await $0.restart() })
    }

    static let masterFrozen = FaultRow(
        "C4", "a master frozen until its replica has its place, then thawed", options: clustered
    ) { rig, scale in
        // The stopped master executes the commands that it had received before, because it still considers itself the master.
        try await rig.stopMasters(scale, by: { $0.signal(SIGSTOP) }, thenResume: { $0.signal(SIGCONT) })
    }

    static let killedWhileSlotsMove = FaultRow(
        "C5", "consumers and the relay killed while slots move and masters are replaced", options: clustered
    ) { rig, scale in
        let cluster = try rig.requireCluster()
        try await rig.startFlow(scale)
        for round in 0..<scale.rounds + 1 {
            try await rig.waitForWork(3, of: try rig.oldest(.consumer))
            if round.isMultiple(of: 2) {
                var moves: [Rig.Move] = []
                for stream in Rig.streams { moves.append(try await rig.move(of: stream)) }
                try await cluster.movingSlots {
                    for move in moves { try await cluster.beginMigration(of: move.slot, from: move.source, to: move.target) }
                    try await rig.replaceConsumerAndRelay()
                    for move in moves { try await cluster.endMigration(of: move.slot, from: move.source, to: move.target) }
                }
            } else {
                let replica = try await rig.roles(of: Rig.workStream).replica
                async let failover: Void = cluster.failOver(to: replica)
                try await rig.replaceConsumerAndRelay()
                try await failover
            }
            try await rig.flow(scale.calm)
        }
    }

    /// F8 on a cluster, where a replica is promoted by the cluster's own command.
    static let promotedByForce = FaultRow(
        "F8c", "replicas promoted without their masters' consent (CLUSTER FAILOVER TAKEOVER)", options: clustered
    ) { rig, scale in
        let cluster = try rig.requireCluster()
        try await rig.whileFlowing(scale) { stream in
            let roles = try await rig.roles(of: stream)
            try await roles.replica.server.cli("CLUSTER", "FAILOVER", "TAKEOVER")
            try await cluster.waitUntilMaster(roles.replica)
            try await rig.waitUntilFollowing(roles.master)
        }
    }
}

extension Rig {
    /// Moves the slot of each stream to another master while work is done, again and again.
    fileprivate func moveSlots(_ scale: Scale, inOneStep: Bool) async throws {
        let cluster = try requireCluster()
        try await whileFlowing(scale) { stream in
            let move = try await move(of: stream)
            try await cluster.migrate(slot: move.slot, from: move.source, to: move.target, inOneStep: inOneStep)
        }
    }

    /// Stops the master of each stream until its replica has its place, and resumes it, while work is done, again and again.
    fileprivate func stopMasters(
        _ scale: Scale, by stop: (RedisServer) async throws -> Void, thenResume resume: (RedisServer) async throws -> Void
    ) async throws {
        let cluster = try requireCluster()
        try await startFlow(scale)
        for _ in 0..<scale.rounds {
            for stream in Self.streams {
                let roles = try await roles(of: stream)
                mark()
                try await stop(roles.master.server)
                try await cluster.waitUntilMaster(roles.replica)
                try await flow(scale.calm)
                try await resume(roles.master.server)
                try await waitUntilFollowing(roles.master)
                try await flow(scale.calm)
            }
        }
    }

    /// Does something to each stream while work is done, again and again.
    fileprivate func whileFlowing(_ scale: Scale, _ fault: (_ stream: String) async throws -> Void) async throws {
        try await startFlow(scale)
        for _ in 0..<scale.rounds {
            mark()
            for stream in Self.streams { try await fault(stream) }
            try await flow(scale.calm)
        }
    }

    /// Waits until a former master is the replica of its successor.
    fileprivate func waitUntilFollowing(_ node: RedisClusterServers.Node) async throws {
        try await wait(for: "the former master follows its successor") {
            try await node.server.cli("INFO", "replication").contains("master_link_status:up")
        }
    }

    /// Kills the oldest consumer, and then the relay, and starts another one in its place each.
    fileprivate func replaceConsumerAndRelay() async throws {
        for victim in [try oldest(.consumer), try oldest(.relay)] {
            mark(victim)
            await victim.guarded.stop(signal: SIGKILL)
            try launch(victim.role)
        }
    }
}
