import FaultLedger
import Foundation
import TestSupport

/// Faults of consumers.
extension FaultRow {
    static let killedMidHandler = FaultRow(
        "F1", "consumer killed in the middle of handlers", recoveryBar: \.killRecovery
    ) { rig, scale in
        let slow = ["--hold-milliseconds", "200"]
        try await rig.startFlow(scale, consumer: slow)
        // In the first three seconds of a group no consumer is taken for dead.
        try await rig.flow(scale.calm)
        // First single deaths, whose recovery is measured; then pairs, in which the second consumer dies before or while it does the work
        // of the first. Never three in a row: a message whose third consumer dies becomes a dead letter, as intended.
        for deaths in [1, 2] {
            for _ in 0..<scale.rounds {
                var dead: [RigProcess] = []
                for _ in 0..<deaths {
                    let victim = try rig.oldest(.consumer)
                    try await rig.waitForWork(3, of: victim)
                    if deaths == 1 { rig.mark(victim) }
                    await victim.guarded.stop(signal: SIGKILL)
                    dead.append(victim)
                    try rig.launch(.consumer, slow)
                    try await rig.flow(scale.calm)
                }
                try await rig.wait(for: "the others do the work of the dead") {
                    // This includes the entries that the dead process had not begun: it lost them as well.
                    for victim in dead {
                        if try await rig.ledger.inWork(pid: victim.pid) > 0 { return false }
                        if try await rig.pending(of: victim) > 0 { return false }
                    }
                    return true
                }
            }
        }
    }

    static let killedUnderOverload = FaultRow(
        // Claimed entries wait for running handlers, hence more time.
        "F1b", "consumer killed while the others have more to do than they can", recoveryBar: { $0.killRecovery + 5 }
    ) { rig, scale in
        // The consumers have capacity for half of the load, so that there are always newer entries than the dead consumer's.
        let slow = ["--hold-milliseconds", "400", "--concurrency", "\(max(1, scale.rate / 10))"]
        let victim = try rig.launch(.consumer, slow)
        try rig.launch(.consumer, slow)
        try rig.launch(.relay)
        try rig.launch(.producer, ["--rate", "\(scale.rate)"])
        try await rig.waitForWork(2, of: victim)
        rig.mark(victim)
        await victim.guarded.stop(signal: SIGKILL)
        try await rig.wait(for: "the survivor does the work of the dead one") {
            try await rig.ledger.inWork(pid: victim.pid) == 0
        }
        await rig.stopProducing()
        for _ in 0..<scale.consumers { try rig.launch(.consumer, ["--hold-milliseconds", "0"]) }
    }

    static let killedAfterCommit = FaultRow("F2", "consumer killed between commit and acknowledgement") { rig, scale in
        try await rig.startFlow(scale)
        var unacknowledged = 0
        for _ in 0..<scale.rounds {
            let victim = try rig.launch(.consumer, ["--die-after-commits", "5"])
            try await rig.wait(for: "the consumer dies of its fifth commit") { !victim.guarded.isRunning }
            unacknowledged += try await rig.pending(of: victim)
            try await rig.flow(scale.calm)
        }
        rig.check("some commits were not acknowledged", unacknowledged > 0, "\(unacknowledged) messages")
    }

    static let killedBeforeDispatch = FaultRow("F3", "consumer killed with messages it has not begun", recoveryBar: \.killRecovery) {
        rig, scale in
        try await rig.startFlow(scale)
        // As in F1.
        try await rig.flow(scale.calm)
        for _ in 0..<scale.rounds {
            let victim = try await rig.frozenWithUnbegunWork()
            rig.mark()
            await victim.guarded.stop(signal: SIGKILL)
            try await rig.flow(scale.calm)
        }
    }

    static let frozen = FaultRow(
        "F4", "consumer frozen until others have its work, then thawed", recoveryBar: \.silenceRecovery
    ) { rig, scale in
        try await rig.startFlow(scale, consumer: steady)
        let victim = try rig.oldest(.consumer)
        try await rig.waitForWork(2, of: victim)
        rig.mark(victim)
        victim.guarded.signal(SIGSTOP)
        try await rig.replaceFrozen(victim, scale)
    }

    static let frozenInTransaction = FaultRow(
        "F4b", "consumer frozen within a transaction until others have its work, then thawed", recoveryBar: \.silenceRecovery
    ) { rig, scale in
        try await rig.startFlow(scale, consumer: steady)
        let victim = try rig.launch(.consumer, steady + ["--stop-in-transaction", "10"])
        try await rig.wait(for: "the consumer stops within a transaction") { victim.isStopped }
        rig.mark(victim)
        try await rig.replaceFrozen(victim, scale)
    }

    /// With this concurrency, half of the consumers can do all the work.
    private static let steady = ["--hold-milliseconds", "200", "--concurrency", "32"]

    static let longHandler = FaultRow("F18", "handlers that take ten times the idle time run once") { rig, scale in
        let idle = scale.shortIdle
        let slow = ["--min-idle-milliseconds", "\(idle)", "--hold-milliseconds", "\(idle * 10)", "--concurrency", "4"]
        for _ in 0..<2 { try rig.launch(.consumer, slow) }
        try rig.launch(.relay)
        try rig.launch(.producer, ["--rate", "20", "--count", "8"])
        try await rig.wait(for: "all is published") { try await rig.ledger.publishedCount() == 8 }
        // There are two stages of ten idle times each.
        try await rig.settle(within: .seconds(300))
        let runs = try await rig.ledger.runs(of: .chained)
        rig.check("one run a message and stage", runs == 16, "\(runs) runs of 8 messages with two stages")
    }

    static let drained = FaultRow("F20", "consumers are told to stop, one after the other, under load") { rig, scale in
        // The idle time of production at every scale, because no measurement waits for it here, and a claim would look like a crash.
        let slow = ["--hold-milliseconds", "300", "--min-idle-milliseconds", "15000"]
        try await rig.startFlow(scale, consumer: slow)
        var slowest = Duration.zero
        for _ in 0..<scale.rounds * 2 {
            let victim = try rig.oldest(.consumer)
            try await rig.waitForWork(2, of: victim)
            try rig.launch(.consumer, slow)
            rig.mark(victim)
            let start = ContinuousClock.now
            await victim.guarded.stop(signal: SIGTERM, patience: .seconds(60))
            slowest = max(slowest, ContinuousClock.now - start)
            try await rig.flow(scale.calm)
        }
        try await rig.settle()
        rig.check("each ended within its 25 s", slowest < .seconds(25), "the slowest took \(slowest)")
        let redeliveries = try await rig.ledger.redeliveries()
        rig.check("no delivery counts as a crash", redeliveries == 0, "\(redeliveries) runs of messages delivered before")
    }
}

extension Rig {
    /// Waits until others have done the work of a frozen consumer, and lets it go on.
    fileprivate func replaceFrozen(_ victim: RigProcess, _ scale: Scale) async throws {
        try await pileUp(scale.longOutage)
        try await wait(for: "others did the work of the frozen one") { try await ledger.inWork(pid: victim.pid) == 0 }
        let begun = try await ledger.runCount(pid: victim.pid)
        victim.guarded.signal(SIGCONT)
        try await wait(for: "the thawed consumer works again") { try await ledger.runCount(pid: victim.pid) > begun }
        try await flow(scale.calm)
    }

    /// Starts a consumer, freezes it, and returns it when Redis has delivered an entry to it since, by answering the read that it
    /// had sent before. A consumer that was frozen between two reads is thawed and frozen again, up to ten times.
    fileprivate func frozenWithUnbegunWork() async throws -> RigProcess {
        let victim = try launch(.consumer)
        try await waitForWork(1, of: victim)
        for _ in 0..<10 {
            victim.guarded.signal(SIGSTOP)
            let before = try await pending(of: victim)
            do {
                try await wait(for: "the frozen consumer is given a message", within: .seconds(3)) {
                    try await pending(of: victim) > before
                }
                return victim
            } catch is DeadlineExceeded {
                // It has to make progress, or it would be frozen at the same place again.
                let begun = try await ledger.runCount(pid: victim.pid)
                victim.guarded.signal(SIGCONT)
                try await wait(for: "the thawed consumer works again") { try await ledger.runCount(pid: victim.pid) > begun }
            }
        }
        throw DeadlineExceeded(description: "the consumer was never frozen while it waited for a read")
    }
}
