import EventBus
import FaultLedger
import Foundation
import TestSupport

/// Faults of the relay, and duplicate entries.
extension FaultRow {
    static let relayKilled = FaultRow(
        "F13", "relay killed between append and mark", options: RigOptions(isProxied: true)
    ) { rig, scale in
        // Of one server, only the relay is behind the proxy.
        for _ in 0..<scale.consumers { try rig.launch(.consumer, redisURL: rig.directRedisURL) }
        try rig.launch(.producer, ["--rate", "\(scale.rate)"])
        try rig.launch(.relay)
        for _ in 0..<scale.rounds {
            try await rig.flow(scale.calm)
            let victim = try rig.oldest(.relay)
            try await rig.setTraffic(.repliesHeld)
            let before = try await rig.appendedCount(Rig.workStream)
            try await rig.wait(for: "Redis takes an append whose answer is held back") {
                try await rig.appendedCount(Rig.workStream) > before
            }
            rig.mark()
            await victim.guarded.stop(signal: SIGKILL)
            try await rig.setTraffic(.flowing)
            try rig.launch(.relay)
        }
        try await rig.flow(scale.calm)
    }

    static let manyRelays = FaultRow("F14", "three relays at once, one of them frozen for a while") { rig, scale in
        try await rig.startFlow(scale)
        for _ in 0..<2 { try rig.launch(.relay) }
        try await rig.flow(scale.calm)
        for _ in 0..<scale.rounds {
            let victim = try rig.oldest(.relay)
            rig.mark()
            victim.guarded.signal(SIGSTOP)
            try await rig.flow(scale.calm)
            victim.guarded.signal(SIGCONT)
            try await rig.flow(scale.calm)
        }
        let appended = try await rig.appendedCount(Rig.workStream)
        let published = try await rig.ledger.publishedCount()
        rig.check("no storm of repetitions", appended <= published * 2, "\(appended) entries for \(published) messages")
    }

    static let publishedTwice = FaultRow("F16", "messages appended three times, dead letters redriven twice at once") { rig, scale in
        try await rig.startFlow(scale)
        for _ in 0..<scale.rounds {
            let consumers = rig.running(.consumer)
            for consumer in consumers { consumer.guarded.signal(SIGSTOP) }
            try await rig.pileUp(scale.outage)
            let copies = try await rig.repeatEntries(of: Rig.workStream, newest: scale.outage, times: 2)
            rig.check("there was something to repeat", copies > 0, "\(copies) copies")
            for consumer in consumers { consumer.guarded.signal(SIGCONT) }
            try await rig.flow(scale.calm)
        }
        // Refusing consumers dead-letter each message at its first failure; the dead letters are then requeued for sound consumers.
        let refusing = try await rig.refuseEverything(scale)
        for _ in 0..<scale.consumers { try rig.launch(.consumer) }
        for consumer in refusing { await consumer.guarded.stop() }
        async let first = rig.redriveAll()
        async let second = rig.redriveAll()
        let redriven = try await first + second
        let left = try await rig.deadLetterCount()
        rig.check("each dead letter was redriven", redriven >= scale.outage && left == 0, "\(redriven) redriven, \(left) left")
        try await rig.flow(scale.calm)
    }
}
