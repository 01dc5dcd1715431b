import EventBus
import FaultLedger
import Foundation
import RedisClient
import TestSupport

/// Faults of Redis.
extension FaultRow {
    static let redisKilled = FaultRow("F5", "Redis killed and started again, AOF everysec") { rig, scale in
        try await rig.startFlow(scale)
        for _ in 0..<scale.rounds {
            rig.mark()
            try await rig.atOnce(rig.redisServers) { await $0.kill() }
            try await rig.pileUp(scale.outage)
            try await rig.atOnce(rig.redisServers) { try await $0.restart() }
            try await rig.flow(scale.calm)
        }
    }

    static let redisRolledBack = FaultRow(
        "F6", "Redis comes back as it was a while ago, RDB only", options: RigOptions(persistence: .none)
    ) { rig, scale in
        try await rig.startFlow(scale)
        for _ in 0..<scale.rounds {
            try await rig.atOnce(rig.redisServers) { try await $0.cli("SAVE") }
            // Of the entries that Redis loses, some are handled and some are not begun.
            try await rig.flow(scale.calm)
            let consumers = rig.running(.consumer)
            for consumer in consumers { consumer.guarded.signal(SIGSTOP) }
            try await rig.pileUp(scale.outage)
            rig.mark()
            // The command closes the connection, which redis-cli reports as an error.
            try await rig.atOnce(rig.redisServers) { _ = try? await $0.cli("SHUTDOWN", "NOSAVE") }
            for consumer in consumers { consumer.guarded.signal(SIGCONT) }
            try await rig.atOnce(rig.redisServers) { try await $0.restart() }
            try await rig.flow(scale.calm)
        }
    }

    static let redisWiped = FaultRow("F7", "FLUSHALL, DEL of the streams, XGROUP DESTROY") { rig, scale in
        let keys = Rig.streams.map { rig.transport.key(of: $0) }
        try await rig.startFlow(scale)
        for round in 0..<scale.rounds + 2 {
            switch round % 3 {
            case 0:
                // Frozen consumers leave a backlog, which is deleted too.
                let consumers = rig.running(.consumer)
                for consumer in consumers { consumer.guarded.signal(SIGSTOP) }
                try await rig.pileUp(scale.outage)
                rig.mark()
                try await rig.atOnce(rig.masters()) { try await $0.cli("FLUSHALL") }
                for consumer in consumers { consumer.guarded.signal(SIGCONT) }
            case 1:
                rig.mark()
                _ = try await rig.redisClient.pipeline(keys.map { RedisCommand("DEL", $0) })
            default:
                rig.mark()
                _ = try await rig.redisClient.pipeline(keys.map { RedisCommand("XGROUP", "DESTROY", $0, Rig.group) })
            }
            try await rig.flow(scale.calm)
        }
    }

    static let promoted = FaultRow(
        "F8", "replica promoted under blocked readers, old master demoted", options: RigOptions(isProxied: true)
    ) { rig, scale in
        let (old, proxy) = (rig.redisServers[0], rig.proxies[0])
        let replica = try await RedisServer.start(
            persistence: .appendOnly, tcp: true, extraArguments: ["--replicaof", "127.0.0.1", "\(old.port ?? 0)"])
        try await rig.wait(for: "the replica has everything") {
            try await replica.cli("INFO", "replication").contains("master_link_status:up")
        }
        try await rig.follow(replica)
        try await rig.startFlow(scale)
        rig.mark()
        try await replica.cli("REPLICAOF", "NO", "ONE")
        // Blocked readers get UNBLOCKED, and writers READONLY, while the proxy still leads to the old master.
        try await old.cli("REPLICAOF", "127.0.0.1", "\(replica.port ?? 0)")
        try await rig.pileUp(scale.outage)
        try await proxy.point(to: .unixSocket(path: replica.socket))
        try await proxy.cut()
        try await rig.flow(scale.calm)
    }

    static let badNetwork = FaultRow(
        "F9", "network to Redis cut, held with open sockets, slow", options: RigOptions(isProxied: true)
    ) { rig, scale in
        try await rig.startFlow(scale)
        for _ in 0..<scale.rounds {
            rig.mark()
            for proxy in rig.proxies { try await proxy.cut() }
            try await rig.flow(scale.calm)
        }
        rig.mark()
        try await rig.setTraffic(.held)
        try await rig.pileUp(scale.longOutage)
        try await rig.setTraffic(.flowing)
        try await rig.flow(scale.calm)
        rig.mark()
        try await rig.setTraffic(.delayed(.milliseconds(100)))
        try await rig.flow(scale.calm)
        try await rig.setTraffic(.flowing)
        try await rig.flow(scale.calm)
    }

    static let stalled = FaultRow("F10", "Redis stalls longer than the idle time: CLIENT PAUSE, DEBUG SLEEP") { rig, scale in
        let arguments = ["--min-idle-milliseconds", "\(scale.stalledIdle)", "--hold-milliseconds", "500", "--concurrency", "32"]
        let stall = scale.stalledIdle * 4 / 3
        try await rig.startFlow(scale, consumer: arguments)
        try await rig.waitForWork(2, of: rig.oldest(.consumer))
        rig.mark()
        try await rig.atOnce(rig.redisServers) { try await $0.cli("CLIENT", "PAUSE", "\(stall)", "ALL") }
        try await rig.flow(scale.calm)
        try await rig.waitForWork(2, of: rig.oldest(.consumer))
        rig.mark()
        try await rig.atOnce(rig.redisServers) { try await $0.cli("DEBUG", "SLEEP", "\(Double(stall) / 1000)") }
        try await rig.flow(scale.calm)
        try await rig.settle()
        // Entries that Redis delivered to closed connections are redelivered too, but had no handler run.
        let repetitions = try await rig.ledger.repetitions()
        rig.check("no live consumer's message was claimed", repetitions == 0, "\(repetitions) messages in work were claimed")
    }

    static let outOfMemory = FaultRow("F11", "Redis out of memory: appends refused, acknowledgements taken") { rig, scale in
        try await rig.startFlow(scale)
        for _ in 0..<scale.rounds {
            rig.mark()
            try await rig.atOnce(rig.redisServers) { try await $0.cli("CONFIG", "SET", "maxmemory", "1") }
            try await rig.pileUp(scale.outage)
            try await rig.wait(for: "everything delivered is acknowledged") {
                for stream in Rig.streams where try await rig.status(stream).pending > 0 { return false }
                return true
            }
            try await rig.atOnce(rig.redisServers) { try await $0.cli("CONFIG", "SET", "maxmemory", "0") }
            try await rig.flow(scale.calm)
        }
    }

    static let scriptsForgotten = FaultRow("F24", "SCRIPT FLUSH again and again") { rig, scale in
        try await rig.startFlow(scale)
        for _ in 0..<scale.rounds * 10 {
            rig.mark()
            try await rig.atOnce(rig.redisServers) { try await $0.cli("SCRIPT", "FLUSH") }
            try await rig.flow(max(1, scale.calm / 10))
        }
    }
}
