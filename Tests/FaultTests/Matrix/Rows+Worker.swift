import Foundation
import TestSupport

/// What happens to consumers.
extension FaultRow {
    /// Production's promise: what a killed process had in work is done elsewhere within 20 s.
    static let killRecoveryBar = 20.0

    static let killedMidHandler = FaultRow(
        "F1", "consumer killed in the middle of handlers", recoveryBar: killRecoveryBar
    ) { rig, scale in
        try await rig.startFlow(scale, consumer: ["--hold-milliseconds", "200"])
        for _ in 0..<scale.rounds {
            let victim = try rig.oldest(.consumer)
            try await rig.waitForWork(3, of: victim)
            rig.mark(victim)
            await victim.guarded.stop(signal: SIGKILL)
            try rig.launch(.consumer, ["--hold-milliseconds", "200"])
            try await rig.flow(scale.calm)
        }
    }
}
