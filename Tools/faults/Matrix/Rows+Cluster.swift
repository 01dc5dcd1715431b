import EventBus
import TestSupport

/// Faults of a Redis Cluster.
extension FaultRow {
    private static let clustered = RigOptions(isClustered: true)

    static let slotsMoved = FaultRow("C1", "the slots of the streams move from master to master", options: clustered) { rig, scale in
        let cluster = try rig.requireCluster()
        try await rig.startFlow(scale)
        for _ in 0..<scale.rounds {
            rig.mark()
            for stream in Rig.streams {
                let source = try await rig.pair(serving: stream)
                let slot = try await cluster.slot(of: rig.transport.key(of: stream))
                try await cluster.migrate(slot: slot, from: cluster.masters[source], to: cluster.masters[(source + 1) % 3])
            }
            try await rig.flow(scale.calm)
        }
    }

    static let mastersReplaced = FaultRow("C2", "masters replaced by agreement, to and fro", options: clustered) { rig, scale in
        let cluster = try rig.requireCluster()
        try await rig.startFlow(scale)
        for _ in 0..<scale.rounds {
            rig.mark()
            for stream in Rig.streams {
                let roles = try await cluster.roles(ofPair: try await rig.pair(serving: stream))
                try await cluster.failOver(to: roles.replica)
            }
            try await rig.flow(scale.calm)
        }
    }

    static let masterKilled = FaultRow("C3", "a master killed, which comes back as a replica", options: clustered) { rig, scale in
        let cluster = try rig.requireCluster()
        try await rig.startFlow(scale)
        for _ in 0..<scale.rounds {
            for stream in Rig.streams {
                let roles = try await cluster.roles(ofPair: try await rig.pair(serving: stream))
                rig.mark()
                await roles.master.server.kill()
                try await cluster.waitUntilMaster(roles.replica)
                try await rig.flow(scale.calm)
                try await roles.master.server.restart()
                try await rig.wait(for: "the killed master follows its successor") {
                    try await roles.master.server.cli("INFO", "replication").contains("master_link_status:up")
                }
            }
        }
    }
}
