import FaultLedger
import Foundation
import TestSupport

/// Consumers with a deliberate mistake that the harness has to detect: rows that must fail.
extension FaultRow {
    /// F1 with consumers that acknowledge before they commit the effect: the effects in work at the kill are lost.
    public static let acknowledgesEarly = FaultRow(
        "F1", "a mistake: acknowledged before the commit", patience: .seconds(10)
    ) { rig, scale in
        let mistake = ["--behaviour", "acknowledgesEarly", "--concurrency", "2", "--hold-milliseconds"]
        try await rig.startFlow(scale, consumer: mistake + ["500"])
        // It has more entries in work, of work and of the events that follow, than it handles at a time. So it has acknowledged some work
        // without taking its effects.
        let victim = try rig.launch(.consumer, mistake + ["3600000"])
        try await rig.waitForWork(7, of: victim)
        await victim.guarded.stop(signal: SIGKILL)
        try await rig.flow(scale.calm)
    }

    /// F2 with consumers that mark messages in a transaction after that of the effect: some effects are taken twice.
    public static let marksLate = FaultRow("F2", "a mistake: marked after the commit") { rig, scale in
        let mistake = ["--behaviour", "marksLate", "--min-idle-milliseconds", "1000"]
        try await rig.startFlow(scale, consumer: mistake)
        let victim = try rig.launch(.consumer, mistake + ["--die-after-commits", "3"])
        try await rig.wait(for: "the consumer dies of its third commit") { !victim.guarded.isRunning }
        try await rig.flow(scale.calm)
    }
}
